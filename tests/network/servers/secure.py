"""An HTTPS server that says what it sees: CERTIFICATE KEY ADDRESS PORT CONTENT."""
import socket, ssl, sys, threading

certificate, key, address, port, content = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["http/1.1"])
context.sni_callback = lambda stream, name, _: say("sni %s" % name)


def say(line):
    print(line, flush=True)


def serve(plain):
    plain.settimeout(60)
    say("connected")
    try:
        with context.wrap_socket(plain, server_side=True) as stream:
            reader = stream.makefile("rb")
            while first := reader.readline():
                length = 0
                while (line := reader.readline().strip()):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"host":
                        say("host %s" % value.strip().decode())
                    if name.lower() == b"content-length":
                        length = int(value)
                reader.read(length)
                body = content.encode()
                stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    except OSError as error:
        say("failed %s" % error)


try:
    listener = socket.create_server((address, int(port)), backlog=128,
                                    family=socket.AF_INET6 if ":" in address else socket.AF_INET)
except OSError as error:
    sys.exit(print(error))
say("port %d" % listener.getsockname()[1])
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
