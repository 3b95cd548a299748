"""Values that a schema of the OpenAPI document allows, and whether it allows one.

As much of JSON schema as the document uses; another keyword is an error here, so that none is
passed over.
"""

from hypothesis import strategies as st

KNOWN = {
    "$ref", "additionalProperties", "anyOf", "description", "items", "maxItems", "maxLength",
    "maxProperties", "maximum", "minItems", "minLength", "minimum", "properties", "propertyNames",
    "required", "type",
}  # fmt: skip
TYPES = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None),
    "object": dict, "array": list,
}  # fmt: skip
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
CHARACTERS = st.characters(codec="utf-8")


class Schemas:
    """The schemas of a document."""

    def __init__(self, document):
        self.known = document["components"]["schemas"]

    def find(self, schema):
        assert schema.keys() <= KNOWN, schema
        return (
            self.find(self.known[schema["$ref"].rpartition("/")[2]]) if "$ref" in schema else schema
        )

    # --- values ---------------------------------------------------------------------------------

    def values(self, schema):
        """A strategy for values that a schema allows."""
        schema = self.find(schema)
        if "anyOf" in schema:
            return st.one_of([self.values(one) for one in schema["anyOf"]])
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return st.one_of([getattr(self, f"_{kind}")(schema) for kind in kinds])

    def _string(self, schema):
        most = schema.get("maxLength", 20)
        return st.text(CHARACTERS, min_size=schema.get("minLength", 0), max_size=most)

    def _integer(self, schema):
        least, most = schema.get("minimum", -(2**53)), schema.get("maximum", 2**53)
        return st.integers(least, most) | st.sampled_from([least, most])

    def _number(self, schema):
        return NUMBERS

    def _boolean(self, schema):
        return st.booleans()

    def _null(self, schema):
        return st.none()

    def _array(self, schema):
        least, most = schema.get("minItems", 0), schema.get("maxItems", 4)
        return st.lists(self.values(schema["items"]), min_size=least, max_size=most)

    def _object(self, schema):
        if "properties" not in schema:
            names, cells = schema["propertyNames"], schema["additionalProperties"]
            most = schema["maxProperties"]
            return st.dictionaries(self.values(names), self.values(cells), max_size=most)
        fields = {name: self.values(one) for name, one in schema["properties"].items()}
        must = {name: fields.pop(name) for name in schema["required"]}
        return st.fixed_dictionaries(must, optional=fields)

    # --- checks ---------------------------------------------------------------------------------

    def allows(self, schema, value):
        """Whether a schema allows a value."""
        schema = self.find(schema)
        if "anyOf" in schema:
            return any(self.allows(one, value) for one in schema["anyOf"])
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is(value, kind) for kind in kinds):
            return False
        if isinstance(value, str):
            return schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        if isinstance(value, list):
            sizes = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
            return sizes and all(self.allows(schema["items"], one) for one in value)
        if isinstance(value, int):
            return schema.get("minimum", value) <= value <= schema.get("maximum", value)
        return not isinstance(value, dict) or self._allows_object(schema, value)

    def _allows_object(self, schema, value):
        fields, more = schema.get("properties", {}), schema.get("additionalProperties", {})
        if not set(schema.get("required", ())) <= value.keys():
            return False
        if len(value) > schema.get("maxProperties", len(value)):
            return False
        if not all(
            self.allows(schema["propertyNames"], k) for k in value if "propertyNames" in schema
        ):
            return False
        others = [one for name, one in value.items() if name not in fields]
        if more is False and others:
            return False
        known = all(self.allows(fields[k], one) for k, one in value.items() if k in fields)
        return known and (not more or all(self.allows(more, one) for one in others))


def _is(value, kind):
    if isinstance(value, bool) and kind in ("integer", "number"):
        return False
    return isinstance(value, TYPES[kind])
