"""Pages to look at: self-contained HTML, with pictures drawn in place.

`page` builds and writes pages, `pictures` draws, `comparison` trains classifiers side by side;
`demo` is the story that `infinimix demo` tells with them.
"""
