"""Prints the types that an installed SDK has of an API as one JSON Schema bundle, which `codegen import` reads.

    pip install openai && python3 sdk_schema.py responses > responses.schema.json

Names, types, enumerations and constants are facts and come along; descriptions do not.
"""

import importlib
import importlib.metadata
import json
import sys
import warnings

# Per API: its package, the module that holds the types, the unions and bodies to begin with, and types that stand
# elsewhere.
APIS = {
    "responses": ("openai", {
        "openai.types.responses": [
            "ResponseStreamEvent",
            "ResponsesServerEvent",
            "ResponsesClientEvent",
            "Response",
            "CompactedResponse",
            "ResponseItemList",
        ],
        "openai.types.responses.response_create_params": ["ResponseCreateParamsNonStreaming"],
    }),
    "chat": ("openai", {
        "openai.types.chat": ["ChatCompletionChunk", "ChatCompletion"],
        "openai.types.chat.completion_create_params": ["CompletionCreateParamsStreaming"],
    }),
    "messages": ("anthropic", {
        "anthropic.types": [
            "RawMessageStreamEvent",
            "Message",
            "ErrorResponse",
            "MessageTokensCount",
            "MessageCountTokensParams",
        ],
        "anthropic.types.message_create_params": ["MessageCreateParamsStreaming"],
    }),
    "gemini": ("google-genai", {"google.genai.types": ["GenerateContentResponse"]}),
}
PROSE = ("title", "description", "examples")


def generator():
    from pydantic.json_schema import GenerateJsonSchema

    class Facts(GenerateJsonSchema):
        """Takes what has no schema, such as an iterable of Python, for anything, and leaves defaults out."""

        def handle_invalid_for_json_schema(self, schema, error_info):
            return {}

        def enum_schema(self, schema):
            return super().enum_schema(schema) if schema["members"] else {}

        def default_schema(self, schema):
            inner = super().default_schema(schema)
            inner.pop("default", None)
            return inner

    return Facts


def without_prose(schema, names_are_keys=False):
    if isinstance(schema, list):
        return [without_prose(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_prose(value, names_are_keys=key == "properties")
        for key, value in schema.items()
        if names_are_keys or key not in PROSE
    }


def bundle(api):
    from pydantic import TypeAdapter

    package, modules = APIS[api]
    wanted = []
    for module, names in modules.items():
        module = importlib.import_module(module)
        # Older versions lack what newer ones have.
        wanted += [(name, "validation", TypeAdapter(getattr(module, name))) for name in names if hasattr(module, name)]
    # Made together, so that two types of one name keep apart.
    roots, shared = TypeAdapter.json_schemas(
        wanted, ref_template="#/$defs/{model}", schema_generator=generator()
    )
    types = shared.get("$defs", {}) | {
        name: schema for (name, _), schema in roots.items() if schema != {"$ref": f"#/$defs/{name}"}
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{package} {importlib.metadata.version(package)} (Python)",
        "$defs": {name: without_prose(schema) for name, schema in sorted(types.items())},
    }


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in APIS:
        sys.exit(f"usage: sdk_schema.py {'|'.join(APIS)}")
    warnings.simplefilter("ignore")
    json.dump(bundle(sys.argv[1]), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
