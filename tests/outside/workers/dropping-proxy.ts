/** A TCP proxy on loopback: the network between a process and its server, which can drop all that goes through it. */
import {createServer, connect as open, type Socket} from 'node:net';

export type Drop = 'silent' | 'reset';

export interface DroppingProxy {
  readonly port: number;
  /** `silent`: nothing goes through, and nobody is told, until `heal`. `reset`: connections break, and new ones are refused. */
  drop(how: Drop): void;
  heal(): void;
  /** As a router that forgets connections: nothing goes through those of now any more, and nobody is told. New ones work. */
  forget(): void;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<DroppingProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const forgotten = new Set<readonly [Socket, Socket]>();
  let state: 'open' | Drop = 'open';
  const end = (pair: readonly [Socket, Socket]) => {
    // While the network is away, no side hears of the end of the other.
    if (state === 'silent' || forgotten.has(pair)) return;
    for (const socket of pair) socket.destroy();
    pairs.delete(pair);
  };
  const server = createServer((near) => {
    if (state === 'reset') return near.resetAndDestroy();
    const far = open(target, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('data', (data) => to.write(data));
      from.on('error', () => undefined);
      from.on('close', () => end(pair));
      if (state === 'silent') from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as {port: number};
  return {
    port,
    drop(how) {
      state = how;
      for (const pair of pairs) for (const socket of pair) how === 'reset' ? socket.resetAndDestroy() : socket.pause();
    },
    forget() {
      for (const pair of pairs) {
        forgotten.add(pair);
        for (const socket of pair) socket.pause();
      }
    },
    heal() {
      state = 'open';
      for (const pair of pairs) {
        if (forgotten.has(pair)) continue;
        if (pair.some(({destroyed}) => destroyed)) end(pair);
        else for (const socket of pair) socket.resume();
      }
    },
    close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
