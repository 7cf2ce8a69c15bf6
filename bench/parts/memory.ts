/** Resident memory of a long session: one prompt of many turns, and many prompts in a terminal. */
import type {Home} from '../../tests/support/environment.ts';
import {callTool, type MessageReply, say} from '../../tests/support/messages-server.ts';
import {spawnCli, startCli} from '../../tests/support/run-cli.ts';
import {type ModelServer, startModelServer} from '../compared/model-server.ts';
import {readUsage} from '../process-tree.ts';

/** Returns the most megabytes at the requests of a run in print mode with this number of turns, each with one `read_file`. */
export async function measureTurnMemory(home: Home, turns: number): Promise<number> {
  const samples: number[] = [];
  let pid = 0;
  const server = await serve((index) => {
    samples.push(readMegabytes(pid));
    return index < turns
      ? callTool('read_file', {path: 'notes.txt', limit: index + 1}, `toolu_${index}`)
      : say('Done.');
  });
  try {
    const child = await spawnCli(['-p', 'go', '--dangerously-skip-permissions', '--max-turns', String(turns + 2)], {
      home,
      server,
    });
    pid = child.pid ?? 0;
    child.stdin.end();
    child.stdout.resume();
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`the run ended with ${code} after ${samples.length} requests: ${errors}`);
  } finally {
    await server.close();
  }
  if (samples.length !== turns + 1) throw new Error(`${samples.length} requests, not ${turns + 1}`);
  return Math.max(...samples);
}

/** Returns the most megabytes after the prompts of a REPL with this number of them, each answered with 40 lines. */
export async function measurePromptMemory(home: Home, prompts: number): Promise<number> {
  const samples: number[] = [];
  const answer = (index: number) =>
    say(`${Array.from({length: 40}, (_, line) => `- item ${line} of answer ${index}`).join('\n')}\n\nend ${index};`);
  const server = await serve(answer);
  const terminal = await startCli([], {home, server, cwd: home.path});
  try {
    await terminal.waitFor(/^> /m);
    for (let index = 0; index < prompts; index += 1) {
      terminal.type(`prompt ${index};`);
      await terminal.waitFor(`> prompt ${index};`);
      terminal.press('enter');
      await terminal.waitFor(`end ${index};`);
      samples.push(readMegabytes(terminal.pid));
    }
  } finally {
    await terminal.close();
    await server.close();
  }
  return Math.max(...samples);
}

function readMegabytes(pid: number): number {
  return readUsage([pid]).residentMb;
}

async function serve(reply: (index: number) => MessageReply): Promise<ModelServer> {
  const server = await startModelServer();
  let index = 0;
  server.play(() => reply(index++));
  return server;
}
