import json
import threading

import pytest
from support.abb_rws_server import CERTIFICATE, MAX_SESSIONS
from support.abb_simulator import HOME, AbbSimulator

from lfd_hardware.drivers.abb.rws import Account, DigestChallenge, Panel, RwsClient, RwsError, RwsRefused

ACCOUNT = Account('Default User', 'robotics')


@pytest.fixture(params=[1, 2], ids=['rws1', 'rws2'])
def simulator(request):
    with AbbSimulator(rws_version=request.param) as simulator:
        yield simulator


@pytest.fixture
def make_client():
    clients = []

    def make(simulator, account=ACCOUNT, timeout=10.0, certificate=''):
        clients.append(RwsClient('127.0.0.1', simulator.rws.port, simulator.rws.version, account, timeout, certificate))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def test_it_reads_the_controller(simulator, make_client):
    client = make_client(simulator)
    assert client.panel() == Panel('motoroff', 'AUTO', 'stopped')
    assert client.joints('ROB_1') == pytest.approx(HOME)


def test_it_switches_motors_and_program(simulator, make_client):
    client = make_client(simulator)
    client.motors_on()
    client.reset_program()
    client.start_program()
    assert client.panel() == Panel('motoron', 'AUTO', 'running')
    client.stop_program()
    assert client.execution() == 'stopped'


def test_one_session_and_one_proof_serve_many_requests(simulator, make_client):
    client = make_client(simulator)
    for _ in range(10):
        client.opmode()
    assert len(simulator.rws.sessions) == 1
    assert len(simulator.rws.asked) == (11 if simulator.rws.version == 1 else 10)  # one challenge
    client.close()
    assert not simulator.rws.sessions
    with pytest.raises(RwsError, match='was closed'):
        client.opmode()


def test_a_connection_that_the_controller_closed_is_opened_again(simulator, make_client):
    client = make_client(simulator)
    client.opmode()
    simulator.rws.hang_up()
    assert client.opmode() == 'AUTO'


def test_it_proves_again_who_it_is_when_asked(simulator, make_client):
    client = make_client(simulator)
    client.opmode()
    simulator.rws.expire_logons()
    assert client.opmode() == 'AUTO'
    client.motors_on()
    assert simulator.controller.ctrlstate == 'motoron'


@pytest.mark.parametrize('account', [Account('Default User', 'wrong'), Account('"nobody"', 'robotics')])
def test_a_wrong_user_is_told(simulator, make_client, account):
    with pytest.raises(RwsRefused, match=r'does not know the user .*rws_user and rws_password') as refused:
        make_client(simulator, account).opmode()
    assert refused.value.status == 401


def test_too_many_sessions_are_told(simulator, make_client):
    for _ in range(MAX_SESSIONS):
        simulator.rws.new_session()
    with pytest.raises(RwsRefused, match='too many sessions'):
        make_client(simulator).opmode()


def test_a_refusal_carries_the_controllers_code(simulator, make_client):
    simulator.controller.emergency_stop()
    with pytest.raises(RwsRefused, match='HTTP 403, code -1073445881') as refused:
        make_client(simulator).motors_on()
    assert (refused.value.status, refused.value.code) == (403, -1073445881)


def test_a_controller_that_is_off_is_told(simulator, make_client):
    client = make_client(simulator)
    client.opmode()
    simulator.close()
    with pytest.raises(RwsError, match=r'127.0.0.1:\d+ does not answer .*check that it is on'):
        client.opmode()


def test_a_controller_that_hangs_is_told(simulator, make_client):
    client, over = make_client(simulator, timeout=0.2), threading.Event()
    client.opmode()
    simulator.rws.override = lambda handler: over.wait(30.0)
    with pytest.raises(RwsError, match='does not answer'):
        client.opmode()
    over.set()


def test_a_known_certificate_can_be_demanded(make_client, tmp_path):
    with AbbSimulator(rws_version=2) as simulator:
        assert make_client(simulator, certificate=str(CERTIFICATE)).opmode() == 'AUTO'
        other = tmp_path / 'other.pem'
        other.write_text('no certificate')
        with pytest.raises(RwsError, match='does not answer'):
            make_client(simulator, certificate=str(other)).opmode()


ODD_BODIES = [
    b'',
    b'{',
    b'[]',
    b'null',
    b'7',
    b'\xff\xfe',
    b'[' * 100000,
    json.dumps({'_embedded': {'_state': []}, 'state': []}).encode(),
    json.dumps({'_embedded': {'_state': [7]}, 'state': [7]}).encode(),
    json.dumps({'_embedded': {'_state': [{'opmode': 7}]}, 'state': [{'opmode': 7}]}).encode(),
    json.dumps({'_embedded': 7, 'state': 7}).encode(),
    b' ' * (1 << 21),
]


@pytest.mark.parametrize('body', ODD_BODIES, ids=range(len(ODD_BODIES)))
@pytest.mark.parametrize('status', [200, 204, 302, 400, 500])
def test_whatever_it_answers_is_a_value_or_an_error(make_client, body, status):
    def odd(handler):
        handler.send_response(status)
        handler.send_header('Content-Length', str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        return True

    with AbbSimulator() as simulator:
        client = make_client(simulator)
        simulator.rws.override = odd
        for ask in (client.opmode, lambda: client.joints('ROB_1')):
            with pytest.raises(RwsError):
                ask()


def test_digest_is_that_of_the_standard():
    """The example of RFC 2617, section 3.5, without its own nonce: the proof is checked by its parts."""
    challenge = DigestChallenge.parse(
        'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", '
        'opaque="5ccc069c403ebaf9f0171e9517f40e41"'
    )
    assert challenge is not None
    answer = challenge.answer(Account('Mufasa', 'Circle Of Life'), 'GET', '/dir/index.html')
    assert 'nc=00000001' in answer
    assert 'opaque="5ccc069c403ebaf9f0171e9517f40e41"' in answer
    old = DigestChallenge(challenge.realm, challenge.nonce, '', False)
    # Without qop the proof has no client part, so that it can be compared.
    assert 'response="670fd8c2df070c60b045671b8b24ff02"' in old.answer(
        Account('Mufasa', 'Circle Of Life'), 'GET', '/dir/index.html'
    )


@pytest.mark.parametrize('header', ['', 'Digest', 'Basic realm="x"', 'Digest realm="x"', 'Digest nonce=1, algorithm=X'])
def test_other_challenges_are_not_answered(header):
    assert DigestChallenge.parse(header) is None
