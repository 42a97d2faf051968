import pytest

from tests.kit.remembering_app import GET, RememberingApp, code_of
from tests.kit.served import PATIENCE_S, serve_app


@pytest.fixture
def application():
    return RememberingApp()


def test_an_ordinary_request_is_answered_without_a_server_header(application):
    with serve_app(application) as server:
        client = server.client()
        first = client.send(GET).answer()
        second = client.send(GET).answer()
    assert (first.status, first.body, second.body) == (200, b"hello", b"hello")
    assert "server" not in first.headers
    assert first.names.count("date") == 1


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"X: " + b"a" * 70_000, id="one long header"),
        pytest.param(b"\r\n".join(b"X-%d: a" % number for number in range(101)), id="101 headers"),
        pytest.param(b"\r\n".join(b"X-%d: %b" % (n, b"a" * 900) for n in range(80)), id="much in many"),
    ],
)
def test_a_head_that_is_too_large_gets_431(application, head):
    with serve_app(application) as server:
        client = server.client().send(b"GET /hello HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n\r\n")
        answer = client.answer()
        assert client.is_closed()
    assert (answer.status, code_of(answer)) == (431, "headers_too_large")
    assert application.seen == []


@pytest.mark.parametrize(
    "start",
    [
        b"GET /",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: ",
        b"\r\n",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: ",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;",
    ],
    ids=["request line", "header", "blank lines", "trailer", "chunk extension"],
)
def test_what_never_ends_is_refused_before_it_is_collected(application, start):
    filler = b"\r\n" * 8192 if start == b"\r\n" else b"a" * 16384
    with serve_app(application, head_bytes=20_000) as server:
        client = server.client().send(start).send_until_cut(filler, 200)
        answer = client.answer()
    assert answer.status == 431


def test_a_refused_client_may_finish_sending_and_then_hear_why(application):
    with serve_app(application) as server:
        client = server.client().send(b"GET /hello HTTP/1.1\r\nHost: a\r\nX: ").send(b"a" * 5_000_000)
        assert client.answer().status == 431
        server.clock.pass_time(6)
        with pytest.raises(ConnectionError):
            client.send(b"a" * 50_000_000)


def test_a_hundred_headers_and_a_large_body_in_one_go_are_fine(application):
    lines = [b"POST /echo HTTP/1.1", b"Host: a", b"Content-Length: 200000"]
    lines += [b"X-%d: a" % number for number in range(98)]
    with serve_app(application) as server:
        answer = server.client().send(b"\r\n".join(lines) + b"\r\n\r\n" + b"b" * 200_000).answer()
    assert (answer.status, len(answer.body)) == (200, 200_000)


@pytest.mark.parametrize("sent", [b"", b"G", b"GET /hello HTTP/1.1\r\nHost: a\r\nX: "])
def test_a_head_must_be_finished_within_ten_seconds(application, sent):
    with serve_app(application) as server:
        client = server.client().send(sent)
        server.clock.pass_time(9)
        assert client.is_open()
        server.clock.pass_time(2)
        assert client.is_closed()


def test_bytes_that_drip_in_do_not_buy_a_head_more_time(application):
    with serve_app(application) as server:
        client = server.client()
        for byte in b"GET":
            client.send(bytes([byte]))
            server.clock.pass_time(3)
        client.send(b" /")
        server.clock.pass_time(3)
        assert client.is_closed()


def test_a_kept_connection_may_idle_for_fifteen_seconds(application):
    with serve_app(application) as server:
        client = server.client()
        client.send(GET).answer()
        server.clock.pass_time(14)
        assert client.send(GET).answer().status == 200
        server.clock.pass_time(14)
        assert client.is_open()
        server.clock.pass_time(2)
        assert client.is_closed()


def test_a_body_below_one_kilobyte_per_second_is_cut_off(application):
    post = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
    with serve_app(application) as server:
        slow, steady = server.client().send(post), server.client().send(post)
        for _ in range(2):
            slow.send(b"a" * 100)
            steady.send(b"a" * 12_000)
            server.clock.pass_time(6)
        assert slow.is_closed()
        assert application.gone.wait(PATIENCE_S)
        for _ in range(4):
            steady.send(b"a" * 19_000)
            server.clock.pass_time(11)
        assert len(steady.answer().body) == 100_000


def test_a_body_sent_in_a_burst_may_not_stall_for_ever(application):
    with serve_app(application) as server:
        client = server.client().send(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n")
        client.send(b"a" * 150_000)
        server.clock.pass_time(11)
        assert client.is_open()
        server.clock.pass_time(11)
        assert client.is_closed()


def test_a_body_that_waits_for_us_is_not_slow(application):
    with serve_app(application) as server:
        waiting = server.client().send(
            b"POST /held_echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        )
        full = server.client().send(b"POST /held_echo HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n")
        full.send(b"a" * 100_000)
        for _ in range(3):
            server.clock.pass_time(11)
        application.let_go()
        assert waiting.head().startswith("HTTP/1.1 100 ")
        assert waiting.send(b"hello").answer().body == b"hello"
        assert len(full.send(b"a" * 300_000).answer().body) == 400_000


def test_a_slow_answer_is_not_an_idle_connection(application):
    with serve_app(application) as server:
        client = server.client().send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\nGET /he")
        server.clock.pass_time(60)
        application.let_go()
        assert client.answer().body == b"held"
        assert client.send(b"llo HTTP/1.1\r\nHost: a\r\n\r\n").answer().body == b"hello"


def test_a_client_that_takes_nothing_is_cut_off(application):
    with serve_app(application) as server:
        client = server.client(receive_buffer=4096).send(b"GET /flood HTTP/1.1\r\nHost: a\r\n\r\n")
        client.head()
        server.clock.wait_for_sweeps(5)
        server.clock.pass_time(29)
        assert not application.gone.is_set()
        server.clock.pass_time(2)
        assert application.gone.wait(PATIENCE_S)


def test_one_peer_may_hold_only_so_many_connections(application):
    with serve_app(application, connections_per_peer=3) as server:
        held = [server.client() for _ in range(3)]
        assert [client.send(GET).answer().status for client in held] == [200, 200, 200]
        assert server.client().is_closed()
        held[0].close()
        server.clock.wait_for_sweeps()
        assert server.client().send(GET).answer().status == 200


def test_a_peer_that_is_named_is_not_counted(application):
    with serve_app(application, connections_per_peer=1, uncounted_peers=("127.0.0.0/8", "::1")) as server:
        assert [server.client().send(GET).answer().status for _ in range(3)] == [200, 200, 200]


def test_slow_strangers_do_not_keep_others_out(application):
    with serve_app(application, connections_per_peer=1000) as server:
        strangers = [server.client() for _ in range(200)]
        for byte in (b"G", b"E", b"T", b" "):
            for stranger in strangers:
                stranger.send_until_cut(byte, 1)
            assert server.client().send(GET).answer().status == 200
            server.clock.pass_time(4)
        assert all(stranger.is_closed() for stranger in strangers)
