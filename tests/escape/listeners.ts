/** Listeners on loopback, in a file and without a file: they count what arrives. */

import {createSocket} from 'node:dgram';
import {chmodSync} from 'node:fs';
import {type AddressInfo, createServer} from 'node:net';

export interface Listeners {
  readonly port: number;
  readonly udpPort: number;
  /** How many messages and connections arrived so far. */
  arrived(): number;
  close(): Promise<void>;
}

/** @param file of a Unix socket. @param abstract the name of one without a file */
export async function listen(file: string, abstract: string): Promise<Listeners> {
  let count = 0;
  const arrived = (): void => {
    count += 1;
  };
  const servers = [{port: 0, host: '::'}, {path: file}, {path: `\0${abstract}`}].map((where) => {
    const server = createServer((socket) => {
      arrived();
      socket.on('error', () => undefined).destroy();
    });
    return new Promise<typeof server>((ready) => server.listen(where, () => ready(server)));
  });
  const datagrams = createSocket('udp4', arrived);
  await new Promise<void>((ready) => datagrams.bind(0, '127.0.0.1', ready));
  const [tcp, ...others] = await Promise.all(servers);
  chmodSync(file, 0o777);
  return {
    port: (tcp!.address() as AddressInfo).port,
    udpPort: datagrams.address().port,
    arrived: () => count,
    async close() {
      datagrams.close();
      await Promise.all([tcp!, ...others].map((server) => new Promise((closed) => server.close(closed))));
    },
  };
}
