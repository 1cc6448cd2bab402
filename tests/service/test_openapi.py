from __future__ import annotations

import json
import re

from shoal.service.app import Service
from shoal.service.openapi import openapi


def test_every_address_and_method_is_described(serving):
    described = {
        (path, method.upper())
        for path, item in openapi()["paths"].items()
        for method in item
        if method != "parameters"
    }
    service: Service = serving().service
    served = {
        (path, method) for path, methods in service._addresses().items() for method in methods
    }
    assert described == served | {("/v1/health", "GET"), ("/v1/openapi.json", "GET")}


def test_what_it_refers_to_is_there():
    document = openapi()
    text = json.dumps(document)
    schemas = document["components"]["schemas"]
    assert set(re.findall(r"#/components/schemas/(\w+)", text)) == set(schemas)
    for path, item in document["paths"].items():
        named = {each["name"] for each in item.get("parameters", ())}
        assert named == set(re.findall(r"\{(\w+)\}", path))
        for method, asked in item.items():
            if method != "parameters":
                assert any(status.startswith("2") for status in asked["responses"])


def test_what_an_answer_leads_to_is_there():
    document = openapi()
    found = []
    for item in document["paths"].values():
        for answer in item.get("post", {}).get("responses", {}).values():
            for link in answer.get("links", {}).values():
                _, _, path, method = link["operationRef"].split("/")
                path = path.replace("~1", "/").replace("~0", "~")
                assert method in document["paths"][path]
                assert set(link.get("parameters", ())) == set(re.findall(r"\{(\w+)\}", path))
                found.append((path, method))
    assert len(found) == 6
