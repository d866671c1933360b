//! Python's clients.

use super::Client;
use crate::common::python;
use crate::network::built::has_modules;

const UNKNOWN: &str = "Name or service not known";

fn client(code: &str) -> Client {
    Client::new([python(), "-I", "-c", code]).complains(UNKNOWN)
}

fn both(modules: &[&str], code: &str) {
    if has_modules(modules) {
        client(code).reaches_what_is_granted();
        client(code).reaches_what_is_granted_by_tls();
    }
}

#[test]
fn urllib_reaches_what_is_granted() {
    both(
        &["ssl"],
        "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())",
    );
}

#[test]
fn requests_reaches_what_is_granted() {
    both(
        &["requests"],
        "import sys, requests; sys.stdout.write(requests.get(sys.argv[1], timeout=60).text)",
    );
}

#[test]
fn httpx_reaches_what_is_granted() {
    both(
        &["httpx"],
        "import sys, httpx; sys.stdout.write(httpx.get(sys.argv[1], timeout=60).text)",
    );
}

#[test]
fn httpx_reaches_what_is_granted_with_asyncio() {
    both(
        &["httpx"],
        "import sys, httpx, asyncio\n\
         async def main():\n  \
           async with httpx.AsyncClient(timeout=60) as client:\n    \
             sys.stdout.write((await client.get(sys.argv[1])).text)\n\
         asyncio.run(main())",
    );
}

#[test]
fn aiohttp_reaches_what_is_granted() {
    both(
        &["aiohttp"],
        "import sys, aiohttp, asyncio\n\
         async def main():\n  \
           async with aiohttp.ClientSession() as session:\n    \
             async with session.get(sys.argv[1]) as answer:\n      \
               sys.stdout.write(await answer.text())\n\
         asyncio.run(main())",
    );
}

#[test]
fn asyncio_reaches_what_is_granted() {
    both(
        &["asyncio"],
        "import sys, asyncio, ssl, urllib.parse\n\
         async def main():\n  \
           url = urllib.parse.urlsplit(sys.argv[1])\n  \
           tls = ssl.create_default_context() if url.scheme == 'https' else None\n  \
           reader, writer = await asyncio.open_connection(url.hostname, url.port, ssl=tls)\n  \
           writer.write(b'GET /hello HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' % url.netloc.encode())\n  \
           head = await reader.readuntil(b'\\r\\n\\r\\n')\n  \
           sys.stdout.write((await reader.readline()).decode())\n  \
           writer.close()\n\
         asyncio.run(main())",
    );
}
