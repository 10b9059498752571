"""Checks YAML texts against a JSON Schema with jsonschema and PyYAML.

Usage: schema-check.py SCHEMA FILE

FILE contains a JSON list of texts. Prints a JSON list with true for each text that matches the schema.
"""

import json
import sys

import jsonschema
import yaml

with open(sys.argv[1]) as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
with open(sys.argv[2]) as file:
    texts = json.load(file)
print(json.dumps([validator.is_valid(yaml.safe_load(text)) for text in texts]))
