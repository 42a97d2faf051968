import pytest

from tests.kit.remembering_app import GET, RememberingApp, code_of
from tests.kit.served import PATIENCE_S, serve_app

POST = b"POST /echo HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n"
MALFORMED = {
    "CL.TE": POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "TE.CL": CHUNKED + b"Content-Length: 4\r\n\r\n0\r\n\r\n",
    "xchunked": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "gzip, chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": CHUNKED + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "blank before colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "chunked in HTTP/1.0": CHUNKED.replace(b"1.1", b"1.0") + b"\r\n0\r\n\r\n",
    "lines end in LF": b"GET /hello HTTP/1.1\nHost: a\n\n",
    "one line ends in LF": b"GET /hello HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
    "folded header": b"GET /hello HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n",
    "two hosts": b"GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "no host": b"GET /hello HTTP/1.1\r\n\r\n",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "negative length": POST + b"Content-Length: -1\r\n\r\nhello",
    "length with a sign": POST + b"Content-Length: +5\r\n\r\nhello",
    "endless length": POST + b"Content-Length: 99999999999999999999999\r\n\r\nhello",
    "negative chunk": CHUNKED + b"\r\n-5\r\nhello\r\n0\r\n\r\n",
    "endless chunk": CHUNKED + b"\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n",
    "chunk longer than it says": CHUNKED + b"\r\n5\r\nhello!\r\n0\r\n\r\n",
    "NUL in a header": b"GET /hello HTTP/1.1\r\nHost: a\0b\r\n\r\n",
    "HTTP/0.9": b"GET /hello\r\n\r\n",
    "HTTP/2.0": b"GET /hello HTTP/2.0\r\nHost: a\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "tunnel": b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
    "address without a path": b"GET http://a HTTP/1.1\r\nHost: a\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


@pytest.fixture
def application():
    return RememberingApp()


def test_what_is_no_clear_request_gets_400_in_our_envelope(application):
    outcomes = {}
    with serve_app(application) as server:
        for name, request in MALFORMED.items():
            application.seen.clear()
            client = server.client().send(request + GET)
            answer = client.answer()
            assert client.is_closed(), name
            # Only a request with a faulty body may have reached the application, and none behind it.
            reached = {scope["path"] for scope in application.seen}
            outcomes[name] = answer.status, code_of(answer), reached <= {"/echo"}
    assert outcomes == dict.fromkeys(MALFORMED, (400, "bad_request", True))


def test_a_body_that_breaks_off_is_a_disconnection_for_the_application(application):
    with serve_app(application) as server:
        client = server.client().send(CHUNKED + b"\r\n5\r\nhello\r\n")
        assert application.entered.wait(PATIENCE_S)
        assert client.send(b"zzz\r\n").answer().status == 400
        assert application.gone.wait(PATIENCE_S)


def test_nonsense_behind_a_request_does_not_spoil_its_answer(application):
    with serve_app(application) as server:
        client = server.client().send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n\x16\x03nonsense")
        server.clock.pass_time(20)
        application.let_go()
        answer = client.answer()
        assert client.is_closed()
    assert (answer.status, answer.body, answer.headers["connection"]) == (200, b"held", "close")


def test_an_offered_upgrade_is_declined_and_smuggles_nothing(application):
    smuggled = b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: %d\r\n\r\n"
    with serve_app(application) as server:
        client = server.client().send(POST + upgrade % len(smuggled) + smuggled + GET)
        assert client.answer().body == smuggled
        assert client.answer().body == b"hello"
        head, _, rest = (POST + upgrade % 5 + b"hello").partition(b"Upgrade: ")
        assert client.send(head).send(b"Upgrade: " + rest).answer().body == b"hello"
    assert [scope["path"] for scope in application.seen] == ["/echo", "/hello", "/echo"]


def test_a_trailer_does_not_become_a_header(application):
    with serve_app(application) as server:
        sent = CHUNKED + b"\r\n5\r\nhello\r\n0\r\nX-Forwarded-For: 1.2.3.4\r\nHost: b\r\n\r\n"
        assert server.client().send(sent).answer().body == b"hello"
    assert application.seen[0]["headers"] == [(b"host", b"a"), (b"transfer-encoding", b"chunked")]


def test_pipelined_requests_are_answered_in_order_up_to_a_limit(application):
    with serve_app(application, pipelined=2) as server:
        client = server.client().send(
            b"".join(POST + b"Content-Length: 1\r\n\r\n%d" % number for number in range(3))
        )
        assert [client.answer().body for _ in range(3)] == [b"0", b"1", b"2"]
        greedy = server.client().send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n" + GET * 3)
        assert application.entered.wait(PATIENCE_S)
        application.let_go()
        assert greedy.answer().body == b"held"
        assert greedy.is_closed()


def test_a_client_that_leaves_is_noticed_behind_a_pipelined_request(application):
    with serve_app(application) as server:
        client = server.client().send(b"GET /wait_for_end HTTP/1.1\r\nHost: a\r\n\r\n" + GET)
        assert application.entered.wait(PATIENCE_S)
        client.close()
        assert application.gone.wait(PATIENCE_S)


def test_an_early_answer_reaches_a_client_that_is_still_sending(application):
    post = b"POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n"
    with serve_app(application) as server:
        client = server.client().send(post + b"a" * 1000)
        assert client.answer().status == 413
        client.send(b"a" * 19_999_000)
        assert client.send(GET).answer().body == b"hello"
        client.send(post + b"a" * 1000)
        assert client.answer().status == 413
        server.clock.pass_time(6)
        assert client.is_closed()


def test_a_failing_application_is_answered_in_our_envelope(application):
    with serve_app(application) as server:
        answer = server.client().send(b"GET /fail HTTP/1.1\r\nHost: a\r\n\r\n").answer()
    assert (answer.status, code_of(answer)) == (500, "internal_error")
    assert b"secret" not in answer.body


def test_an_unfinished_answer_ends_with_the_connection(application):
    with serve_app(application) as server:
        client = server.client().send(b"GET /half HTTP/1.1\r\nHost: a\r\n\r\n")
        with pytest.raises(ConnectionError):
            client.answer()
