/** The socket of a session, by which `mini-cc runs` asks it. Only this user can open it. */
import {createServer} from 'node:net';
import path from 'node:path';
import type {EventBus} from '../core/session/event-bus.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {tryOr} from '../core/util/errors.ts';
import {withPrivateUmask} from '../core/util/files/private-file.ts';
import {
  chooseSocket,
  type LiveRecord,
  type LiveRequest,
  listLive,
  publishLive,
  removeLive,
} from '../storage/live-sessions.ts';
import {getProjectFolder} from '../storage/sessions/session-store.ts';
import {cleanUpKilled} from '../storage/sessions/start-up-cleanup.ts';

interface SocketDeps {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly startedAt: number;
  readonly getNames: () => Pick<LiveRecord, 'session' | 'folder'>;
  readonly answer: (request: LiveRequest) => Promise<unknown>;
  readonly bus: EventBus;
}

/** No mini-cc sends a longer request. */
const MAX_REQUEST = 10_000;

/** @returns a function that closes the socket @throws the file system's error */
export function openSocket({home, env, startedAt, getNames, answer, bus}: SocketDeps): () => void {
  removeDead(home);
  const socket = chooseSocket(home, env);
  const server = createServer((client) => {
    let text = '';
    client.setEncoding('utf8');
    client.on('error', () => client.destroy());
    client.on('data', (chunk) => {
      text += chunk;
      if (text.length > MAX_REQUEST) client.destroy();
      if (!text.includes('\n')) return;
      const request = tryOr(() => JSON.parse(text) as LiveRequest, undefined);
      const reply = async () =>
        client.end(`${JSON.stringify(request ? await answer(request) : {error: 'no request'})}\n`);
      inBackground(reply(), neverRejects);
    });
  });
  server.unref();
  server.on('error', () => server.close());
  withPrivateUmask(() => server.listen(socket));
  const publish = () => publishLive(home, {...getNames(), socket, startedAt});
  publish();
  const unsubscribe = bus.subscribe(({type}) => {
    if (type === 'cleared' || type === 'resumed') tryOr(publish, undefined);
  });
  return () => {
    unsubscribe();
    server.close();
    removeLive(home, {pid: process.pid, socket});
  };
}

/** Removes what killed sessions left, in all projects: their files, sockets and locks. */
function removeDead(home: string): void {
  for (const {record, isDead} of listLive(home)) {
    if (!isDead) continue;
    const {session, folder} = record;
    cleanUpKilled(path.join(getProjectFolder(home, folder), session), session, folder);
    removeLive(home, record);
  }
}
