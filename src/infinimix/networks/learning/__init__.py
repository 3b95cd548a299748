"""From a table to what chains have seen: columns, prior knowledge, chains, and their summary."""
