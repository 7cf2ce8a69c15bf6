/**
 * A window that changes its size again and again while an answer streams: each block of the answer stays there once and
 * whole, in tmux and in an emulator that wraps in another way.
 */
import {execFile, execFileSync} from 'node:child_process';
import {promisify} from 'node:util';
import {describe, expect, onTestFinished, test} from 'vitest';
import {callTool, type MessagesBody, say, slow} from '../support/messages-server.ts';
import {createRandom} from '../support/random.ts';
import type {Condition, Terminal} from '../support/terminal.ts';
import {pause, until} from '../support/wait.ts';
import {serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const run = promisify(execFile);

/** Storms of each kind; `npm run soak`: 50. Otherwise one storm that changes both. */
const SEEDS = Number(process.env.MINI_CC_STORMS ?? 0);
const FIRST_SEED = Number(process.env.MINI_CC_STORM_SEED ?? 1);
const CHANGES = 40;
const MS_BETWEEN = 125;

const BLOCKS = Array.from(
  {length: 240},
  (_, n) => `block${String(n).padStart(3, '0')} reads what is there and says ${'word '.repeat(n % 23)}end${n}`,
);
const ANSWER = BLOCKS.join('\n\n');

interface Sizes {
  readonly columns: readonly number[];
  readonly rows: readonly number[];
}

const STORMS: Readonly<Record<string, Sizes>> = {
  width: {columns: [100, 60, 80, 72], rows: [30]},
  height: {columns: [100], rows: [30, 20, 40, 24]},
  both: {columns: [100, 60, 80, 120], rows: [30, 22, 36, 26]},
};

const CASES = (SEEDS === 0 ? ['both'] : Object.keys(STORMS)).flatMap((name) =>
  Array.from({length: Math.max(1, SEEDS)}, (_, n) => [name, FIRST_SEED + n] as const),
);

/** Sends the prompt, and changes the window at random until the answer has streamed. @param begins when the storm begins */
async function storm(terminal: Terminal, name: string, seed: number, begins: Condition = /block\d+/): Promise<void> {
  const {columns, rows} = STORMS[name]!;
  const random = createRandom(seed);
  await send(terminal, 'go');
  await terminal.waitFor(begins);
  for (let change = 0; change < CHANGES; change++) {
    terminal.resize(columns[random(columns.length)]!, rows[random(rows.length)]!);
    await pause(random(2 * MS_BETWEEN), 'the sizes of a storm come at random times');
  }
  terminal.resize(100, 30);
  await terminal.waitFor((at) => at.text().includes('end239'));
}

/** What was lost, doubled or cut. @param text all that the terminal keeps, without its line breaks */
function damage(text: string): string[] {
  const flat = text.replace(/\s+/g, ' ');
  return BLOCKS.flatMap((block) => {
    const [mark] = block.split(' ');
    const times = flat.split(`${mark} `).length - 1;
    if (times !== 1) return [`${mark} is there ${times} times`];
    return flat.includes(block) ? [] : [`${mark} is cut`];
  });
}

/** Copies of the live part that were left behind. */
function remains(text: string): number {
  return (text.match(/Esc interrupts/g)?.length ?? 0) + (text.match(/^─{20}/gm)?.length ?? 0) - 2;
}

function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V']);
    return true;
  } catch {
    return false;
  }
}

const server = () => serve(() => slow(say(ANSWER), 4));

describe('a storm of sizes while 240 blocks stream: none is lost, doubled or cut', () => {
  test.each(CASES)('in an emulator: %s, seed %i', async (name, seed) => {
    const terminal = await repl({server: await server(), cols: 100, rows: 30});
    await storm(terminal, name, seed);
    await idle(terminal);
    expect([damage(terminal.text()), remains(terminal.text())]).toEqual([[], 0]);
    expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/);
  });

  test('in an emulator: both, while a subagent asks', async () => {
    const input = {description: 'ask', prompt: 'ask', agent_type: 'code', run_in_background: true};
    const mainReplies = [callTool('Task', input), slow(say(ANSWER), 4)];
    const subagentReplies = [callTool('bash', {command: 'touch asked'})];
    const script = ({tools}: MessagesBody) => {
      const replies = tools?.some(({name}) => name === 'Task') ? mainReplies : subagentReplies;
      return replies.shift() ?? say('Done.');
    };
    const terminal = await repl({server: await serve(script), cols: 100, rows: 30});
    const isAsked = (at: Terminal) => /^. 1 yes/m.test(at.screen().join('\n'));
    await storm(terminal, 'both', FIRST_SEED, isAsked);
    expect(isAsked(terminal)).toBe(true);
    terminal.type('1');
    await idle(terminal);
    expect([damage(terminal.text()), remains(terminal.text())]).toEqual([[], 0]);
  });

  // CI installs tmux, and there a missing one fails.
  test.skipIf(!process.env.CI && !hasTmux()).each(CASES)('in tmux: %s, seed %i', async (name, seed) => {
    const socket = `mini-cc-storm-${process.pid}-${name}-${seed}`;
    const tmux = (...args: string[]) => run('tmux', ['-L', socket, ...args]).then(({stdout}) => stdout);
    onTestFinished(async () => {
      await tmux('kill-server').catch(() => '');
    });
    const options = ['set', '-g', 'status', 'off', ';', 'set', '-g', 'history-limit', '5000', ';'];
    const terminal = await repl({
      ...{server: await server(), cols: 100, rows: 30},
      wrap: (command, args) => ['tmux', ['-L', socket, '-f', '/dev/null', ...options, 'new-session', command, ...args]],
    });
    await storm(terminal, name, seed);
    await idle(terminal);
    let history = '';
    // In the midst of a frame, the pane lacks rows of the live part.
    const isWhole = async () => {
      history = await tmux('capture-pane', '-p', '-J', '-S', '-');
      return remains(history) >= 0;
    };
    await until(isWhole, 'a whole frame');
    expect([damage(history), remains(history)]).toEqual([[], 0]);
  });
});
