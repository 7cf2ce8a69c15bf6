/**
 * A long answer that streams in the REPL while a person types, eight subagents work, questions come and the window is
 * resized: CPU time of the process, bytes written, and how long a typed key takes to be on the screen.
 */
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Home} from '../../tests/support/environment.ts';
import {
  callTool,
  callTools,
  type MessagesBody,
  type Reply,
  say,
  startMessagesServer,
} from '../../tests/support/messages-server.ts';
import {startCli} from '../../tests/support/run-cli.ts';
import type {Terminal} from '../../tests/support/terminal.ts';
import {readOwnTicks} from '../process-tree.ts';

export interface StreamingUse {
  /** CPU time of the process alone, from the prompt until the answer is whole. */
  readonly cpuSeconds: number;
  readonly megabytes: number;
  /** Milliseconds until a typed key is on the screen. */
  readonly keyP95: number;
  /** What was found wrong on the screen; empty when nothing was. */
  readonly faults: readonly string[];
}

const CHARACTERS = 100_000;
const SUBAGENTS = 8;
const KEYS = 60;
const RESIZES = 10;
const SIZES = [
  [90, 30],
  [100, 24],
  [70, 30],
  [110, 34],
  [100, 30],
] as const;
/** Files of the workspace. */
const FILES = 20_000;

/** An answer of about 100,000 characters with all kinds of blocks. Each line has a number. */
export function createLongAnswer(): {readonly text: string; readonly lines: readonly string[]} {
  const blocks: string[] = [];
  const lines: string[] = [];
  let at = 0;
  let length = 0;
  const next = () => `n${String(at++).padStart(5, '0')}`;
  const add = (block: string, shown: readonly string[]) => {
    blocks.push(block);
    lines.push(...shown);
    length += block.length + 2;
  };
  while (length < CHARACTERS) {
    const [a, b, c, d] = [next(), next(), next(), next()];
    add(`## Part **${a}**`, [`Part ${a}`]);
    add(`The **store** \`${b}\` keeps *what* it has read.`, [`The store ${b} keeps what it has read.`]);
    add(`1. **${c}** reads\n2. \`${d}\` writes`, [`1. ${c} reads`, `2. ${d} writes`]);
    const code = Array.from({length: 24}, () => `let ${next()} = call(1);`);
    add(
      `\`\`\`ts\n${code.join('\n')}\n\`\`\``,
      code.map((line) => `  ${line}`),
    );
    const rows = Array.from({length: 4}, next);
    add(
      `| Name | Lines |\n|---|--:|\n${rows.map((row) => `| ${row} | 12 |`).join('\n')}`,
      rows.map((row) => `${row} │    12`),
    );
  }
  return {text: blocks.join('\n\n'), lines};
}

function isSubagent(body: MessagesBody): boolean {
  return !body.tools?.some(({name}) => name === 'Task');
}

export async function measureStreaming(home: Home): Promise<StreamingUse> {
  const answer = createLongAnswer();
  let calls = 0;
  const script = (body: MessagesBody, index: number): Reply => {
    if (isSubagent(body)) {
      calls += 1;
      // One that asks now and then, and reads in between.
      return callTool('bash', {command: calls % 20 === 0 ? `touch asked-${calls}` : `sleep 0.5; echo ${calls}`});
    }
    if (index === 0) {
      const input = {prompt: 'work', agent_type: 'code', run_in_background: true};
      return callTools(
        Array.from({length: SUBAGENTS}, (_, n) => ({
          name: 'Task',
          input: {...input, description: `part ${n}`, prompt: `work on ${n}`},
        })),
      );
    }
    return {...say(answer.text), charsPerDelta: 100, msPerEvent: 10};
  };
  const server = await startMessagesServer(script);
  const folder = path.join(home.path, `work-${Date.now()}`);
  for (let n = 0; n < FILES; n++) {
    const dir = path.join(folder, `d${n % 200}`);
    if (n < 200) mkdirSync(dir, {recursive: true});
    writeFileSync(path.join(dir, `file${n}.ts`), '');
  }
  const terminal = await startCli([], {home, server, cwd: folder, cols: 100, rows: 30});
  try {
    return await stream(terminal, answer.lines);
  } finally {
    await terminal.close();
    await server.close();
  }
}

async function stream(terminal: Terminal, lines: readonly string[]): Promise<StreamingUse> {
  await terminal.waitFor(/^(default) · /m);
  terminal.type('go');
  await terminal.waitFor('> go');
  const [ticks, bytes] = [readOwnTicks(terminal.pid), terminal.raw().length];
  terminal.press('enter');
  await terminal.waitFor('n00010');
  const echoes: number[] = [];
  const faults: string[] = [];
  const isDone = () => terminal.text().includes(lines.at(-1)!);
  const resizing = resizeSometimes(terminal);
  for (let key = 0; key < KEYS; key++) {
    const letter = 'abcdefghijklmnopqrstuvwxyz'[key % 26]!;
    const typed = 'abcdefghijklmnopqrstuvwxyz'.repeat(3).slice(0, key + 1);
    const sent = performance.now();
    terminal.type(letter);
    try {
      await terminal.waitFor((at) => at.screen().join('').replaceAll(/\s/g, '').includes(typed), 3000);
      echoes.push(performance.now() - sent);
    } catch {
      faults.push(`the key ${key} did not come`);
      break;
    }
    await sleep(120);
  }
  await resizing;
  await terminal.waitFor(isDone, 120_000);
  await terminal.waitFor((at) => !/Esc interrupts/.test(at.screen().join('\n')), 20_000);
  const cpuSeconds = (readOwnTicks(terminal.pid) - ticks) / 100;
  const raw = terminal.raw().slice(bytes);
  if (/\x1b\[[23]J/.test(raw)) faults.push('the screen was cleared');
  const sorted = echoes.toSorted((a, b) => a - b);
  return {
    cpuSeconds,
    megabytes: Buffer.byteLength(raw) / 1e6,
    keyP95: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN,
    faults: [...faults, ...findFaults(terminal.scrollback(), lines)],
  };
}

async function resizeSometimes(terminal: Terminal): Promise<void> {
  for (let n = 0; n < RESIZES; n++) {
    await sleep(700);
    const [columns, rows] = SIZES[n % SIZES.length]!;
    terminal.resize(columns, rows);
  }
}

/** The lines of the answer are there, each once, in their order. */
function findFaults(scrollback: readonly string[], lines: readonly string[]): string[] {
  const wanted = new Set(lines);
  const found = scrollback.map((line) => line.trimEnd()).filter((line) => wanted.has(line));
  const missing = lines.filter((line) => !found.includes(line));
  const faults = missing.length > 0 ? [`${missing.length} lines are missing, e.g. ${JSON.stringify(missing[0])}`] : [];
  if (found.length > new Set(found).size) {
    const twice = found.find((line, index) => found.indexOf(line) !== index);
    faults.push(`${found.length - new Set(found).size} lines are there twice, e.g. ${JSON.stringify(twice)}`);
  }
  return faults;
}
