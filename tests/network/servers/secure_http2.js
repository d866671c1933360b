// An HTTP/2 server that says what it sees: CERTIFICATE KEY ADDRESS PORT CONTENT.
const fs = require('fs'), http2 = require('http2');
const [certificate, key, address, port, content] = process.argv.slice(-5);
const server = http2.createSecureServer({
    cert: fs.readFileSync(certificate),
    key: fs.readFileSync(key),
    SNICallback: (name, done) => { console.log('sni ' + name); done(null); },
});
server.on('stream', (stream, headers) => {
    console.log('host ' + headers[':authority']);
    stream.respond({ ':status': 200 });
    stream.end(content);
});
server.on('secureConnection', () => console.log('connected'));
server.on('error', (error) => { console.log(error.message); process.exit(1); });
server.listen(Number(port), address, () => console.log('port ' + server.address().port));
