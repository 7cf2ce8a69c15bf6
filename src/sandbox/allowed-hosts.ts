/** Lets the connections of one held command out, to hosts that are allowed and to none else. */
import {type LookupAddress, lookup} from 'node:dns';
import {createServer, type ServerHttp2Stream} from 'node:http2';
import {connect, isIP, type LookupFunction} from 'node:net';
import type {Duplex} from 'node:stream';

export interface AllowedHosts {
  /** `example.com`, or `*.example.com` for all below it. Addresses are named as they are. */
  readonly names: readonly string[];
  /** Whether a host that is allowed may have this address: a name of the world should not lead into this machine. */
  readonly mayLeadTo: (host: string, address: string) => boolean;
}

const CONNECT_LIMIT_MS = 30_000;

/** Answers the forwarder at the other end of `link`, until that closes. */
export function openGate(link: Duplex, hosts: AllowedHosts): void {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    const {':method': method, ':authority': authority = ''} = headers;
    if (method === 'CONNECT') pass(stream, authority, hosts);
    else refuse(stream, 405);
  });
  // The command has ended in the middle of a connection.
  server.on('sessionError', () => link.destroy());
  link.on('error', () => undefined);
  server.emit('connection', link);
}

export function isAllowed(host: string, {names}: AllowedHosts): boolean {
  const asked = host.toLowerCase().replace(/\.$/, '');
  return names.some((name) => {
    const allowed = name.toLowerCase();
    return allowed.startsWith('*.') ? asked.endsWith(allowed.slice(1)) : asked === allowed;
  });
}

function pass(stream: ServerHttp2Stream, authority: string, hosts: AllowedHosts): void {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(authority) ?? [];
  const host = bracketed ?? plain;
  stream.on('error', () => undefined);
  const isRefused = host === undefined || !isAllowed(host, hosts) || (isIP(host) !== 0 && !hosts.mayLeadTo(host, host));
  if (isRefused) {
    refuse(stream, 403);
    return;
  }
  const socket = connect({host, port: Number(port), lookup: lookupAllowed(hosts), timeout: CONNECT_LIMIT_MS});
  socket.once('timeout', () => socket.destroy());
  socket.once('connect', () => {
    socket.setTimeout(0);
    stream.respond({':status': 200});
    stream.pipe(socket).pipe(stream);
  });
  socket.on('error', () => (stream.headersSent ? stream.close() : refuse(stream, 502)));
  socket.on('close', () => stream.close());
  stream.on('close', () => socket.destroy());
}

function refuse(stream: ServerHttp2Stream, status: number): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond({':status': status}, {endStream: true});
}

/** What the name leads to is looked at where it is connected to, so that it cannot change in between. */
function lookupAllowed({mayLeadTo}: AllowedHosts): LookupFunction {
  return (host, options, callback) => {
    lookup(host, {...options, all: true}, (error, found: LookupAddress[]) => {
      if (error) return callback(error, []);
      const allowed = found.filter(({address}) => mayLeadTo(host, address));
      if (allowed.length === 0) return callback(new Error(`${host} leads to a private address`), []);
      const [first] = allowed;
      return options.all ? callback(null, allowed) : callback(null, first!.address, first!.family);
    });
  };
}
