import io
import zipfile

import pytest
from PIL import Image

from retinue.kit.http.media_types import EXECUTABLE, HTML, PDF, PHP, SCRIPT, SVG, XML, ZIP, sniff, sniff_file

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def picture(kind):
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, kind)
    return buffer.getvalue()


def archive(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name in names:
            made.writestr(name, "content")
    return buffer.getvalue()


def windows_program():
    return b"MZ\x90\x00\x03" + bytes(55) + b"\x80\0\0\0" + bytes(64) + b"PE\0\0"


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (picture("PNG"), "image/png"),
        (picture("JPEG"), "image/jpeg"),
        (picture("GIF"), "image/gif"),
        (picture("WEBP"), "image/webp"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", PDF),
        (archive("notes.txt"), ZIP),
        (archive(), ZIP),
        (archive("[Content_Types].xml", "_rels/.rels", "word/document.xml"), DOCX),
        (archive("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"), XLSX),
        (archive("META-INF/MANIFEST.MF", "word/Evil.class"), ZIP),
        (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
        (b"ID3\x04\0\0", "audio/mpeg"),
        (b"\xff\xfb\x90\x64\0\0", "audio/mpeg"),
        (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webmB\x87\x81\x04", "audio/webm"),
        (b"OggS\0\x02", "audio/ogg"),
        (b"fLaC\0\0\0\x22", "audio/flac"),
        (b"\0\0\0\x1cftypM4A \0\0\2\0", "audio/mp4"),
        (b"\0\0\0\x20ftypisom\0\0\2\0", "video/mp4"),
        (b"\0\0\0\x20ftypavif\0\0\0\0", None),
        (b"\x7fELF\x02\x01\x01", EXECUTABLE),
        (windows_program(), EXECUTABLE),
        (b"#!/bin/sh\nrm -rf /", SCRIPT),
        (b"#! /usr/bin/env python", SCRIPT),
        (b"<?php system($_GET['c']);", PHP),
        (b"<!DOCTYPE html><title>x</title>", HTML),
        (b"\xef\xbb\xbf \r\n<HTML>", HTML),
        (b"<!-- a comment --><script>alert(1)</script>", HTML),
        (b"<!--><script>alert(1)</script>", HTML),
        (b"<img src=x onerror=alert(1)>", HTML),
        (b"<p onmouseover='alert(1)'>", HTML),
        ("<html><script>".encode("utf-16"), HTML),
        ("<html><script>".encode("utf-16-le"), HTML),
        ("<html><script>".encode("utf-16-be"), HTML),
        (b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', SVG),
        (b'<?xml version="1.0"?><!DOCTYPE svg><svg><script>alert(1)</script></svg>', SVG),
        (b'<?xml version="1.0"?><x:svg xmlns:x="http://www.w3.org/2000/svg"/>', SVG),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', HTML),
        (b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>', XML),
    ],
)
def test_what_the_bytes_prove_is_recognized(head, media_type):
    assert sniff(head) == media_type


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"a,b,c\n1,2,3\n",
        b"# Title\n\nSome <script> in the prose.",
        b'<p align="center"><img src="logo.png"></p>\n\n# Project\n',
        b"<!-- omit in toc -->\n# Project\n\n<script src='x'></script>",
        b"MZ is not always a program",
        b"RIFF\0\0\0\0AVI ",
        b"\xff\xfeplain text in UTF-16",
        b"#!important",
        b"PDF headers look like %PDF-1.7",
        b"\xff\xff\xff\xff",
        bytes(4096),
    ],
)
def test_what_proves_nothing_is_left_to_its_name(head):
    assert sniff(head) is None


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        pytest.param(b"<html><script>alert(1)</script></html>", HTML, id="x.png that is HTML"),
        pytest.param(picture("GIF") + b"<script>alert(1)</script>", HTML, id="GIF and page"),
        pytest.param(picture("JPEG")[:20] + b"<SVG/onload=alert(1)>", HTML, id="JPEG and drawing"),
        pytest.param(b"%PDF-1.7\n<html><script>alert(1)</script>", HTML, id="PDF and page"),
        pytest.param(b"<html><!--\n%PDF-1.7\n1 0 obj", HTML, id="page before PDF"),
        pytest.param(b"/*\n%PDF-1.7\n*/alert(1)", SCRIPT, id="PDF and JavaScript"),
        pytest.param(picture("GIF") + archive("Evil.class"), ZIP, id="GIFAR"),
        pytest.param(picture("PNG") + bytes(100_000) + archive("a.txt"), ZIP, id="PNG and archive"),
        pytest.param(b"%PDF-1.7\n" + archive("a.txt"), ZIP, id="PDF and archive"),
        pytest.param(picture("PNG"), "image/png", id="only a picture"),
        pytest.param(picture("PNG") + b"PK\x05\x06", "image/png", id="only the letters of an archive"),
        pytest.param(archive("a.txt"), ZIP, id="only an archive"),
        pytest.param(b"", None, id="empty"),
    ],
)
def test_a_file_that_is_two_things_is_the_more_dangerous_one(tmp_path, content, media_type):
    path = tmp_path / "upload"
    path.write_bytes(content)
    assert sniff_file(path) == media_type
