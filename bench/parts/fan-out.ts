/** What a fan-out saves: three parts side by side, compared with the same parts one after another. */
import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Home} from '../../tests/support/environment.ts';
import {callTools, say, startMessagesServer} from '../../tests/support/messages-server.ts';
import {countReplies, getFirstPrompt} from '../../tests/support/request-facts.ts';
import {runCli} from '../../tests/support/run-cli.ts';
import {median} from '../statistics.ts';

const PARTS = 3;
/** Model calls of each part; all but the last one call a tool. */
const CALLS = 10;
const REPLY_MS = 200;

/** The time of three parts at once, to a third of their time one after another. 1 is the best there is. */
export async function measureFanOut(home: Home, runs: number): Promise<number> {
  const ratios: number[] = [];
  for (let run = 0; run < runs; run++) {
    const sequential = await measureParts(home, 1);
    ratios.push((await measureParts(home, PARTS)) / (sequential / PARTS));
  }
  return median(ratios);
}

/** Milliseconds from the first request to the last reply. @param slots of the pool */
async function measureParts(home: Home, slots: number): Promise<number> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-bench-')));
  mkdirSync(path.join(folder, 'src'));
  for (let index = 0; index < PARTS; index++) writeFileSync(path.join(folder, `src/f${index}.ts`), 'export {};\n');
  const server = await startMessagesServer(async (body) => {
    await new Promise((resolve) => setTimeout(resolve, REPLY_MS));
    const [, file = ''] = /\n- (\S+)$/.exec(getFirstPrompt(body)) ?? [];
    const call = {name: 'read_file', input: {path: file, limit: countReplies(body) + 1}};
    return countReplies(body) < CALLS - 1 ? callTools([call]) : say('Done.');
  });
  try {
    const settings = JSON.stringify({subagents: {maxConcurrent: slots}});
    const args = ['-p', 'Check all files in src/', '--fan-out', 'auto', '--settings', settings];
    const {code, stderr} = await runCli(args, {home, server, cwd: folder, timeoutMs: 60_000});
    if (code !== 0) throw new Error(`the fan-out ended with ${code}: ${stderr}`);
    if (server.requests.length !== PARTS * CALLS) throw new Error(`${server.requests.length} requests`);
    const ends = server.requests.map(({at, durationMs = 0}) => at + durationMs);
    return Math.max(...ends) - Math.min(...server.requests.map(({at}) => at));
  } finally {
    await server.close();
    rmSync(folder, {recursive: true, force: true});
  }
}
