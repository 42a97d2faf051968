"""Signatures are those AWS publishes with its examples, so any server that checks them agrees."""

from datetime import UTC, datetime

from retinue.adapters.aws_signing import EMPTY_PAYLOAD, AwsKeys, payload_hash, sign_request
from retinue.kit.secrets import Secret

SUITE_KEYS = AwsKeys("AKIDEXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"))
SUITE_TIME = datetime(2015, 8, 30, 12, 36, tzinfo=UTC).timestamp()
S3_KEYS = AwsKeys("AKIAIOSFODNN7EXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
S3_TIME = datetime(2013, 5, 24, tzinfo=UTC).timestamp()
S3_HOST = "https://examplebucket.s3.amazonaws.com"


def signature(headers: dict[str, str]) -> str:
    return headers["Authorization"].rpartition("Signature=")[2]


def test_the_examples_of_the_signature_suite_come_out_as_published():
    published = {
        ("GET", "/"): "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ("POST", "/"): "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        (
            "GET",
            "/?Param2=value2&Param1=value1",
        ): "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ("GET", "/?%E1%88%B4=bar"): "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
    }
    for (method, target), expected in published.items():
        headers = sign_request(
            method,
            f"https://example.amazonaws.com{target}",
            {},
            EMPTY_PAYLOAD,
            "us-east-1",
            "service",
            SUITE_KEYS,
            SUITE_TIME,
        )
        assert signature(headers) == expected, target
        assert headers["x-amz-date"] == "20150830T123600Z"


def test_the_examples_of_object_storage_come_out_as_published():
    published = [
        (
            "GET",
            "/test.txt",
            {"Range": "bytes=0-9"},
            b"",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT",
            "/test%24file.text",
            {"Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
            b"Welcome to Amazon S3.",
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        ("GET", "/?lifecycle", {}, b"", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        (
            "GET",
            "/?max-keys=2&prefix=J",
            {},
            b"",
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ]
    for method, target, extra, content, expected in published:
        headers = sign_request(
            method, S3_HOST + target, extra, payload_hash(content), "us-east-1", "s3", S3_KEYS, S3_TIME
        )
        assert signature(headers) == expected, target
        assert headers["x-amz-content-sha256"] == payload_hash(content)


def test_a_session_token_is_sent_and_signed_and_no_secret_shows():
    keys = AwsKeys("ASIAEXAMPLE", Secret("hush"), Secret("the-token"))
    headers = sign_request(
        "POST",
        "http://127.0.0.1:9000/v2",
        {"content-type": "application/json"},
        payload_hash(b"{}"),
        "eu-central-1",
        "ses",
        keys,
        0.0,
    )
    assert headers["x-amz-security-token"] == "the-token"
    assert "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token," in headers["Authorization"]
    assert "Credential=ASIAEXAMPLE/19700101/eu-central-1/ses/aws4_request" in headers["Authorization"]
    assert "hush" not in repr(keys)
    assert "the-token" not in repr(keys)
