/** Resident memory of a long session: one prompt of many turns, and many prompts in a terminal. */
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {Home} from '../../tests/support/environment.ts';
import {callTool, type MessageReply, say} from '../../tests/support/messages-server.ts';
import {createEvents} from '../../tests/support/reply-stream.ts';
import {spawnCli, startCli} from '../../tests/support/run-cli.ts';

export interface MemoryOverTime {
  /** Megabytes after the first tenth, and the most from then on. */
  readonly earlyMb: number;
  readonly mostMb: number;
  /** CPU time of the process at the last sample. Seconds. */
  readonly cpuSeconds: number;
}

interface Sample {
  readonly residentMb: number;
  readonly cpuSeconds: number;
}

/** A run in print mode with this number of turns, each with one `read_file`. */
export async function measureTurnMemory(home: Home, turns: number): Promise<MemoryOverTime> {
  const samples: Sample[] = [];
  let pid = 0;
  const server = await serve((index) => {
    samples.push(takeSample(pid));
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
  return summarize(samples);
}

/** A REPL with this number of prompts, each answered with 40 lines. */
export async function measurePromptMemory(home: Home, prompts: number): Promise<MemoryOverTime> {
  const samples: Sample[] = [];
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
      samples.push(takeSample(terminal.pid));
    }
  } finally {
    await terminal.close();
    await server.close();
  }
  return summarize(samples);
}

function summarize(samples: readonly Sample[]): MemoryOverTime {
  const megabytes = samples.map(({residentMb}) => residentMb);
  const tenth = Math.ceil(samples.length / 10);
  return {
    earlyMb: Math.max(...megabytes.slice(0, tenth)),
    mostMb: Math.max(...megabytes),
    cpuSeconds: samples.at(-1)?.cpuSeconds ?? 0,
  };
}

function takeSample(pid: number): Sample {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  // After the name in brackets: the 12th and 13th field, in ticks of 10 ms.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return {residentMb: Number(kb) / 1024, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100};
}

/** Answers without keeping the requests: they would fill the memory of this process. */
async function serve(reply: (index: number) => MessageReply) {
  let index = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      const usage = {input_tokens: 10, output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};
      response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'});
      for (const event of createEvents(reply(index), {model: 'm', max_tokens: 1, messages: []}, index, usage)) {
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      }
      response.end();
      index += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {url, close};
}
