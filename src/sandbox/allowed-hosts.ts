/** Connects one confined command to the allowed hosts and to no other. */
import {type LookupAddress, lookup} from 'node:dns';
import {createServer, type ServerHttp2Stream} from 'node:http2';
import {connect, isIP, type LookupFunction} from 'node:net';
import type {Duplex} from 'node:stream';
import {matchesHost} from '../core/permissions/rules/rule.ts';

export interface AllowedHosts {
  /** Names such as `example.com`, or `*.example.com` for all its subdomains, and IP addresses. */
  readonly names: readonly string[];
  /** Whether an allowed host may have this address. It keeps a public name from resolving to this machine. */
  readonly mayResolveTo: (host: string, address: string) => boolean;
}

const CONNECT_LIMIT_MS = 30_000;

/** Serves the forwarder at the other end of `link` until it closes. */
export function serveAllowedHosts(link: Duplex, hosts: AllowedHosts): void {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    const {':method': method, ':authority': authority = ''} = headers;
    if (method === 'CONNECT') connectStream(stream, authority, hosts);
    else refuseStream(stream, 405);
  });
  // This happens when the command ends in the middle of a connection.
  server.on('sessionError', () => link.destroy());
  link.on('error', () => undefined);
  server.emit('connection', link);
}

export function isAllowed(host: string, {names}: AllowedHosts): boolean {
  return names.some((name) => matchesHost(name, host));
}

function connectStream(stream: ServerHttp2Stream, authority: string, hosts: AllowedHosts): void {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(authority) ?? [];
  const host = bracketed ?? plain;
  stream.on('error', () => undefined);
  const isRefused =
    host === undefined || !isAllowed(host, hosts) || (isIP(host) !== 0 && !hosts.mayResolveTo(host, host));
  if (isRefused) {
    refuseStream(stream, 403);
    return;
  }
  const socket = connect({host, port: Number(port), lookup: lookupAllowed(hosts), timeout: CONNECT_LIMIT_MS});
  socket.once('timeout', () => socket.destroy());
  socket.once('connect', () => {
    socket.setTimeout(0);
    stream.respond({':status': 200});
    stream.pipe(socket).pipe(stream);
  });
  socket.on('error', () => (stream.headersSent ? stream.close() : refuseStream(stream, 502)));
  socket.on('close', () => stream.close());
  stream.on('close', () => socket.destroy());
}

function refuseStream(stream: ServerHttp2Stream, status: number): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond({':status': status}, {endStream: true});
}

/** Checks the addresses during the connection's own lookup, so that they cannot change between check and connection. */
function lookupAllowed({mayResolveTo}: AllowedHosts): LookupFunction {
  return (host, options, callback) => {
    lookup(host, {...options, all: true}, (error, found: LookupAddress[]) => {
      if (error) return callback(error, []);
      const allowed = found.filter(({address}) => mayResolveTo(host, address));
      if (allowed.length === 0) return callback(new Error(`${host} leads to a private address`), []);
      const [first] = allowed;
      return options.all ? callback(null, allowed) : callback(null, first!.address, first!.family);
    });
  };
}
