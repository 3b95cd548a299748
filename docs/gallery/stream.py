"""A classifier that learns from a stream of texts and notices a new class."""

from infinimix import OnlineCRPClassifier

model = OnlineCRPClassifier(open_world=True, random_state=0)
news = [("a late goal in the cup", "sport"), ("the law passed the house", "politics")] * 20
for text, label in news:
    model.partial_fit([text], [label])
print(model.predict(["a goal in the last minute", "a new law"]))
print(model.new_class_proba(["a goal", "quarks and gluons collide"]).round(2))
