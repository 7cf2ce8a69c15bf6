/** The time that mini-cc adds to a turn, and the bytes of its first request. */
import type {Home} from '../tests/support/environment.ts';
import {callTool, type MessagesServer, say, startMessagesServer} from '../tests/support/messages-server.ts';
import {countReplies} from '../tests/support/request-facts.ts';
import {runCli} from '../tests/support/run-cli.ts';
import {median} from './statistics.ts';

/** Milliseconds of a turn with one `bash true`, without start-up and without the time of the server. */
export async function measureTurn(home: Home, turns: number, runs: number): Promise<number> {
  const times: number[] = [];
  // The first round warms the caches.
  for (let run = 0; run <= runs; run++) {
    const without = await measureRun(home, 0);
    const withTurns = await measureRun(home, turns);
    if (run > 0) times.push((withTurns - without) / turns);
  }
  return median(times);
}

/** Milliseconds of a run in print mode with this number of turns before its answer, without the time of the server. */
async function measureRun(home: Home, turns: number): Promise<number> {
  const server = await startMessagesServer((body) =>
    countReplies(body) < turns ? callTool('bash', {command: 'true'}) : say('The answer is here.'),
  );
  try {
    const {code, stderr, durationMs} = await run(home, server);
    if (code !== 0) throw new Error(`the run ended with ${code}: ${stderr}`);
    if (server.requests.length !== turns + 1) throw new Error(`${server.requests.length} requests, not ${turns + 1}`);
    return durationMs - server.requests.reduce((total, request) => total + (request.durationMs ?? 0), 0);
  } finally {
    await server.close();
  }
}

/** Bytes of the body of the first request, with all tools. */
export async function measureFirstRequest(home: Home): Promise<number> {
  const server = await startMessagesServer([say('The answer is here.')]);
  try {
    await run(home, server);
    const first = server.requests[0];
    if (first === undefined) throw new Error('no request was sent');
    return first.bytes;
  } finally {
    await server.close();
  }
}

function run(home: Home, server: MessagesServer) {
  return runCli(['-p', 'go', '--dangerously-skip-permissions'], {home, server, timeoutMs: 120_000});
}
