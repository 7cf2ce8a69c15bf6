/**
 * Gives confined programs a way to the allowed hosts. The sandbox has only a loopback network. A proxy there accepts
 * what programs send to `http_proxy` and forwards it through one stream, descriptor 5, over HTTP/2, since many
 * connections share that stream. `allowed-hosts.ts` at the other end decides which hosts may be reached.
 */

import {COMMAND} from './launch/shell-process.ts';

/** Descriptor of the stream to the outside. */
const LINK = 5;

/**
 * Program for `node -e`. It starts the proxy, then the command that follows the first argument, and ends with that
 * command's exit code.
 */
const PROGRAM = `
const http = require('node:http');
const {constants} = require('node:os');
const {spawn} = require('node:child_process');
const link = new (require('node:net').Socket)({fd: ${LINK}, readable: true, writable: true});
const outside = require('node:http2').connect('http://outside', {createConnection: () => link});
outside.on('error', () => undefined);
function open(authority, done) {
  let isDone = false;
  const end = (status, stream) => isDone || ((isDone = true), done(status, stream));
  const stream = outside.request({':method': 'CONNECT', ':authority': authority});
  stream.on('error', () => undefined);
  stream.once('response', (headers) => end(headers[':status'], stream));
  stream.once('close', () => end(502));
}
const message = (status) => 'mini-cc: ' + (status === 403 ? 'this host is not allowed' : 'this host was not reached') + '\\n';
const proxy = http.createServer((request, response) => {
  const {hostname, port, pathname, search} = URL.parse(request.url) ?? {hostname: ''};
  open(hostname + ':' + (port || 80), (status, stream) => {
    if (status !== 200) return response.writeHead(status).end(message(status));
    const {method, headers: {'proxy-connection': _, ...headers}} = request;
    const onward = http.request({createConnection: () => stream, method, path: pathname + search, headers});
    onward.on('error', () => response.destroy());
    onward.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers)));
    request.pipe(onward);
  });
});
proxy.on('connect', (request, socket, head) => {
  socket.on('error', () => undefined);
  open(request.url, (status, stream) => {
    if (status !== 200) return socket.end('HTTP/1.1 ' + status + ' No\\r\\n\\r\\n' + message(status));
    socket.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
    stream.write(head);
    socket.pipe(stream).pipe(socket);
  });
});
proxy.listen(0, '127.0.0.1', () => {
  const {no_proxy, NO_PROXY, ...env} = process.env;
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy']) {
    env[name] = env[name.toUpperCase()] = 'http://127.0.0.1:' + proxy.address().port;
  }
  const [count, file, ...args] = process.argv.slice(1);
  const waits = args.length + 1 < Number(count) ? ['ignore', 'ignore', ${COMMAND}] : [];
  const child = spawn(file, args, {stdio: ['inherit', 'inherit', 'inherit', 3, ...waits], env: {...env, NODE_USE_ENV_PROXY: '1'}});
  child.on('error', () => process.exit(127));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});
`;

/**
 * Returns the command line that runs the command with the proxy. A shell that is started ahead lacks the last argument, and
 * reads the command from a descriptor: the number of all arguments tells the two apart.
 */
export function withForwarder(argv: readonly string[]): string[] {
  return [process.execPath, '-e', PROGRAM, '--', String(argv.length), ...argv];
}
