/** Listeners on loopback, in a file and without a file: they count what arrives. */

import {createSocket} from 'node:dgram';
import {chmodSync} from 'node:fs';
import {type AddressInfo, connect, createServer, type NetConnectOpts} from 'node:net';

export interface Listeners {
  readonly port: number;
  readonly udpPort: number;
  /** How many messages and connections arrived so far. */
  arrived(): number;
  /** Waits until what was sent before has been counted. */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

/** A datagram of the listeners themselves. */
const MARK = Buffer.from('all before this has arrived');

/** @param file of a Unix socket. @param abstract the name of one without a file */
export async function listen(file: string, abstract: string): Promise<Listeners> {
  let count = 0;
  const arrived = (): void => {
    count += 1;
  };
  let own = 0;
  const marked = new Set<() => void>();
  const servers = [{port: 0, host: '::'}, {path: file}, {path: `\0${abstract}`}].map((where) => {
    const server = createServer((socket) => {
      arrived();
      socket.on('error', () => undefined).destroy();
    });
    return new Promise<typeof server>((ready) => server.listen(where, () => ready(server)));
  });
  const datagrams = createSocket('udp4', (message) => {
    if (message.equals(MARK)) for (const seen of marked) seen();
    else arrived();
  });
  await new Promise<void>((ready) => datagrams.bind(0, '127.0.0.1', ready));
  const [tcp, ...others] = await Promise.all(servers);
  chmodSync(file, 0o777);
  const {port} = tcp!.address() as AddressInfo;
  const udpPort = datagrams.address().port;
  /** Connects, and waits until the server has taken it: it takes connections in their order. */
  const knock = (where: NetConnectOpts) =>
    new Promise<void>((resolve) => {
      const socket = connect(where).on('error', () => undefined);
      socket.resume().once('close', () => {
        own += 1;
        resolve();
      });
    });
  const mark = () =>
    new Promise<void>((resolve) => {
      marked.add(resolve);
      datagrams.send(MARK, udpPort, '127.0.0.1');
    });
  return {
    ...{port, udpPort},
    arrived: () => count - own,
    async catchUp() {
      await Promise.all([...[{port, host: '127.0.0.1'}, {path: file}, {path: `\0${abstract}`}].map(knock), mark()]);
      marked.clear();
    },
    async close() {
      datagrams.close();
      await Promise.all([tcp!, ...others].map((server) => new Promise((closed) => server.close(closed))));
    },
  };
}
