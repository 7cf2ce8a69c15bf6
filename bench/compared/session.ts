/**
 * One session for all programs, played in tmux: what a person types, what the model answers, and which of the screens are
 * kept. The replies are the same; each program calls its own tools.
 */
import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {callTools, type MessageReply, type ScriptedCall, say, slow} from '../../tests/support/scripted-replies.ts';
import type {ModelRequest, ModelServer} from './model-server.ts';
import {Pane, type PaneOptions} from './pane.ts';
import type {Program, ProgramName} from './programs.ts';

/** Keeps the screen as it is now under this name. */
export type Keep = (step: string, pane: Pane, text?: string) => Promise<void>;

interface Hand {
  read(file: string): ScriptedCall;
  edit(file: string, from: string, to: string): ScriptedCall;
  run(command: string, description: string): ScriptedCall;
  /** Undefined where it has no subagents. */
  readonly agent?: (prompt: string, id: string) => ScriptedCall;
  /** Whether it asks before it changes a file. */
  readonly asks: boolean;
  /** A question is on the screen. */
  readonly question: RegExp;
  /** Answers it with yes, once. */
  readonly yes: readonly string[];
  /** The prompt is shown, and empty. */
  isIdle(screen: string): boolean;
  /** Shows the whole conversation with results. */
  readonly transcript: string;
  /** Opens the last session of the folder. */
  readonly resume: readonly string[];
}

const GREET = `/** Greets a person by name. */
export function greet(name: string): string {
  if (name === '') return 'Hello!';
  return \`Hello, \${name}\`;
}
`;
const [FROM, TO] = ['return `Hello, ${name}`;', 'return `Hello, ${name.trim()}!`;'];

const HANDS: Readonly<Record<ProgramName, Hand>> = {
  'mini-cc': {
    read: (file) => ({name: 'read_file', input: {path: file}}),
    edit: (file, from, to) => ({name: 'edit_file', input: {path: file, old_string: from, new_string: to}}),
    run: (command, description) => ({name: 'bash', input: {command, description}}),
    agent: (prompt, id) => ({id, name: 'Task', input: {description: prompt, prompt, agent_type: 'explore'}}),
    asks: true,
    question: /^\W*1\W+yes/im,
    yes: ['1'],
    isIdle: (screen) => /^> Ask about/m.test(screen) && !/Esc (means|closes|ends|leaves|goes)/.test(screen),
    transcript: 'C-o',
    resume: ['--continue'],
  },
  claude: {
    read: (file) => ({name: 'Read', input: {file_path: file}}),
    edit: (file, from, to) => ({name: 'Edit', input: {file_path: file, old_string: from, new_string: to}}),
    run: (command, description) => ({name: 'Bash', input: {command, description}}),
    agent: (prompt, id) => ({id, name: 'Agent', input: {description: prompt, prompt, subagent_type: 'Explore'}}),
    asks: true,
    question: /^\W*1\. Yes/im,
    yes: ['1'],
    isIdle: (screen) => /^❯\s*(Press up .*|Try .*)?\n─+\n.*(manual mode|for shortcuts)/m.test(screen),
    transcript: 'C-o',
    resume: ['--continue'],
  },
  codex: {
    read: (file) => ({name: 'exec_command', input: {cmd: `cat ${file}`}}),
    edit: (file, from, to) => ({
      name: 'exec_command',
      input: {
        cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ${file}\n@@\n-  ${from}\n+  ${to}\n*** End Patch\nEOF\n`,
      },
    }),
    run: (cmd, justification) => ({
      name: 'exec_command',
      input: {
        cmd,
        yield_time_ms: 5000,
        ...(justification !== 'Count' && {sandbox_permissions: 'require_escalated', justification}),
      },
    }),
    agent: (message, id) => ({id, name: 'spawn_agent', input: {message}, namespace: 'multi_agent_v1'}),
    asks: true,
    question: /^\W*1\. Yes/im,
    yes: ['y'],
    isIdle: (screen) =>
      /^› (Ask Codex|Find and|Explain|Write|Summar|Improve|Run|Use)/m.test(screen) &&
      !/reverse-i-search|esc back|q close/.test(screen),
    transcript: 'C-t',
    resume: ['resume', '--last'],
  },
  pi: {
    read: (file) => ({name: 'read', input: {path: file}}),
    edit: (file, from, to) => ({name: 'edit', input: {path: file, edits: [{oldText: from, newText: to}]}}),
    run: (command) => ({name: 'bash', input: {command}}),
    asks: false,
    question: /^\W*1\. Yes/im,
    yes: ['1'],
    isIdle: (screen) => /^─+\n *\n─+\n~/m.test(screen),
    transcript: 'C-o',
    resume: ['--continue'],
  },
};

/** A small project with a test, in git. */
export function createSmallProject(root: string): void {
  const write = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(root, file)), {recursive: true});
    writeFileSync(path.join(root, file), text);
  };
  write('src/greet.ts', GREET);
  write('test/greet.test.js', "import {test} from 'node:test';\ntest('greets by name', () => {});\n");
  write('README.md', '# Greetings\n\nSays hello to people.\n');
  const scripts = {lint: 'echo No problems found', test: 'node --test'};
  write('package.json', `${JSON.stringify({name: 'greetings', version: '1.0.0', type: 'module', scripts}, null, 2)}\n`);
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root, stdio: 'pipe'});
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'Begin');
}

export const FIRST_PROMPT = 'Let greet() trim the name, and run lint and tests';

const TABLE_ANSWER = `\`greet()\` trims the name now, and all tests pass.

| file | lines | what it does | covered |
|:-----|------:|:-------------|:-------:|
| src/greet.ts | 5 | greets a person by name, without the spaces around it | yes |
| test/greet.test.js | 2 | says what a greeting is | – |
| README.md | 3 | tells people what this is for | no |

\`\`\`ts
greet('  Ada '); // Hello, Ada!
\`\`\`

More: https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/String/trim#description-of-the-method
`;

const PARTS = ['the sources', 'the tests'];

/** Plays the session to its end. @throws Error with the screen, when a step does not come */
export async function playSession(program: Program, server: ModelServer, options: PaneOptions, keep: Keep) {
  const hand = HANDS[program.name];
  const script = new Script(program, hand);
  server.play((request) => script.answer(request));
  createSmallProject(program.cwd);
  const pane = new Pane(program.asking, options);
  try {
    const player = new Player(pane, hand, script, keep);
    await pane.waitFor(program.prompt);
    // Codex ignores keys in its first seconds.
    await sleep(3_000);
    await keep('first', pane);
    await player.editAndTest();
    await player.runCommands();
    await player.startAgents();
    await player.typeCommands();
    await player.writeDrafts();
    await player.meetErrors();
    await player.makeNarrow(options.cols ?? 100);
    await player.leave();
  } catch (error) {
    await keep('failed', pane, String(error));
    throw error;
  } finally {
    pane.close();
  }
  for (const [step, args] of [
    ['again', []],
    ['continued', hand.resume],
  ] as const) {
    const again = new Pane({...program.asking, args: [...program.asking.args, ...args]}, options);
    try {
      await sleep(6_000);
      await keep(step, again);
      if (step === 'again') await new Player(again, hand, script, keep).comeBack();
    } finally {
      again.close();
    }
  }
}

/** What the model says: replies in order to the main agent, and two rounds to each subagent. */
class Script {
  replies: MessageReply[] = [];
  fails = false;
  readonly #program: Program;
  readonly #hand: Hand;
  readonly #rounds = new Map<string, number>();
  #count = 0;

  constructor(program: Program, hand: Hand) {
    this.#program = program;
    this.#hand = hand;
  }

  answer(request: ModelRequest): MessageReply {
    if (this.fails) throw new Error('The server has an internal problem');
    if (!request.hasTools) return say('Trim names');
    if (!request.has(FIRST_PROMPT)) return this.#answerSubagent(request);
    const goOn =
      this.replies[0] === END_OF_AGENTS && this.#program.goOn?.(request.body.toString(), `toolu_wait_${++this.#count}`);
    return goOn || (this.replies.shift() ?? say('Nothing is left to say.'));
  }

  #answerSubagent(request: ModelRequest): MessageReply {
    const part = PARTS.find((each) => request.has(`Look at ${each}`)) ?? PARTS[0]!;
    const round = this.#rounds.get(part) ?? 0;
    this.#rounds.set(part, round + 1);
    if (round === 0) return slow(callTools([this.#hand.read('README.md')], `I look at ${part} now.`), 150);
    if (round === 1)
      return slow(callTools([this.#hand.read('src/greet.ts')], 'The README says what it is for; now the code.'), 400);
    return slow(say(`I am done with part “${part}”: one function, and nothing calls it yet. `.repeat(2)), 200);
  }
}

const END_OF_AGENTS = say('Both have answered: the sources hold one function, and the tests cover it.');

const COMMANDS = [
  ...['/', '@gre', '?', '!echo hi there', '/model', '/theme', '/context', '/cost', '/status', '/help', '/permissions'],
  ...['/rewind', '/tree', '/diff', '/agents', '/history', '/frob', '/modle'],
];

const nameOf = (command: string) => command.replace('/', 'slash ').trim();

class Player {
  readonly #pane: Pane;
  readonly #hand: Hand;
  readonly #script: Script;
  readonly #keep: Keep;

  constructor(pane: Pane, hand: Hand, script: Script, keep: Keep) {
    this.#pane = pane;
    this.#hand = hand;
    this.#script = script;
    this.#keep = keep;
  }

  async editAndTest(): Promise<void> {
    const {edit, read, run} = this.#hand;
    await this.#send(FIRST_PROMPT, [
      callTools([read('src/greet.ts')], 'I read the function first.'),
      callTools([edit('src/greet.ts', FROM, TO)], 'It keeps the spaces. I trim them.'),
      callTools([run('npm run lint && npm test', 'Check style and tests')], 'Now lint and tests.'),
      slow(say(TABLE_ANSWER), 15),
    ]);
    await this.#answerQuestion('diff', this.#hand.asks ? /trim\(\)[\s\S]*1\W+yes/i : /trim\(\)/);
    await this.#answerQuestion('question', /npm test[\s\S]*1\W+yes|More:/i);
    await this.#pane.waitFor(/method/);
    await this.#pane.settle();
    await this.#keep('table', this.#pane);
  }

  async runCommands(): Promise<void> {
    const {run} = this.#hand;
    await this.#send('Count to 3000', [
      callTools([run('seq 1 3000; exit 3', 'Count')]),
      say('It ended with an error, as it should.'),
    ]);
    await this.#answerQuestion('count asked', /as it should|1\W+yes/i);
    await this.#pane.waitFor(/as it should/);
    await this.#pane.settle();
    await this.#keep('counted', this.#pane);
    await this.#send('Wait a little', [
      callTools([run('for i in $(seq 1 12); do echo "step $i"; sleep 1; done', 'Wait for 12 seconds')]),
      say('The wait is behind us.'),
      say('The message and the command are read.'),
      say('The command has ended.'),
    ]);
    await sleep(1500);
    await this.#answerQuestion('wait asked', /step 2|1\W+yes/i);
    await sleep(3_000);
    await this.#keep('running', this.#pane, this.#pane.title());
    await this.#type('And look at the README');
    this.#pane.press('Enter');
    await sleep(1_000);
    await this.#keep('queued', this.#pane);
    this.#pane.press('C-b');
    await sleep(1_500);
    await this.#keep('ctrl-b', this.#pane);
    await sleep(14_000);
    await this.#keep('after the command', this.#pane);
  }

  async startAgents(): Promise<void> {
    const {agent} = this.#hand;
    if (!agent) return;
    const calls = PARTS.map((part, index) => agent(`Look at ${part}`, `toolu_part_${index}`));
    await this.#send('Let two agents look at it', [
      callTools(calls, 'Two agents look at it side by side.'),
      END_OF_AGENTS,
    ]);
    await sleep(7_000);
    await this.#keep('agents', this.#pane, this.#pane.title());
    await this.#pane.waitFor(/tests cover it/, 60_000);
    await this.#pane.settle(1_500);
    await this.#keep('agents done', this.#pane);
  }

  async typeCommands(): Promise<void> {
    for (const command of COMMANDS) {
      this.#pane.type(command);
      await sleep(1_000);
      if (command.length === 1 || command.startsWith('@')) await this.#keep(`typed ${nameOf(command)}`, this.#pane);
      else {
        this.#pane.press('Enter');
        await this.#pane.settle(1_200);
        await this.#keep(nameOf(command), this.#pane);
      }
      await this.#becomeIdle();
    }
    this.#pane.press('C-r');
    await this.#pane.settle();
    await this.#keep('ctrl-r', this.#pane);
    this.#pane.press('C-s');
    await this.#pane.settle();
    await this.#keep('ctrl-r, all folders', this.#pane);
    await this.#becomeIdle();
    this.#pane.press(this.#hand.transcript);
    await this.#pane.settle();
    await this.#keep('transcript', this.#pane);
    this.#pane.press(this.#hand.transcript);
    await this.#becomeIdle();
    await this.#send('Tell a long story', [slow(say('Once upon a time there was a function. '.repeat(40)), 200)]);
    await sleep(2_500);
    await this.#keep('streaming', this.#pane, this.#pane.title());
    this.#pane.press('Escape');
    await sleep(1_500);
    await this.#keep('interrupted', this.#pane);
    await this.#becomeIdle();
  }

  async writeDrafts(): Promise<void> {
    this.#pane.paste(Array.from({length: 301}, (_, line) => `pasted line ${line + 1}`).join('\n'));
    await this.#pane.settle(1_000);
    this.#pane.type(' what is this?');
    await this.#pane.settle();
    await this.#keep('paste', this.#pane);
    this.#pane.press('C-c');
    await sleep(1_000);
    await this.#becomeIdle();
    for (let row = 1; row <= 45; row++) {
      this.#pane.type(`row ${row} of a long draft`);
      this.#pane.press('C-j');
      await sleep(30);
    }
    await this.#pane.settle();
    await this.#keep('draft', this.#pane);
    this.#pane.press('C-c');
    await sleep(1_500);
    await this.#becomeIdle();
  }

  async meetErrors(): Promise<void> {
    this.#script.fails = true;
    await this.#send('Say hello', []);
    await sleep(5_000);
    await this.#keep('error', this.#pane);
    await sleep(10_000);
    await this.#keep('error later', this.#pane);
    this.#pane.press('Escape');
    await sleep(1_500);
    await this.#keep('error ended', this.#pane);
    this.#script.fails = false;
    await this.#becomeIdle();
  }

  async makeNarrow(cols: number): Promise<void> {
    await this.#send('Show the table again', [slow(say(TABLE_ANSWER), 10)]);
    await this.#pane.waitFor(/method/);
    await this.#pane.settle(1_000);
    await this.#keep('wide', this.#pane);
    this.#pane.resize(60);
    await this.#pane.settle(1_500);
    await this.#keep('narrow', this.#pane, this.#pane.scrollback());
    this.#pane.resize(cols);
    await this.#pane.settle(1_500);
    await this.#keep('wide again', this.#pane, this.#pane.scrollback());
  }

  async leave(): Promise<void> {
    this.#pane.press('C-c');
    // Pi counts two keys as a pair only when they come close together.
    await sleep(200);
    this.#pane.press('C-c');
    await this.#pane.waitFor(/Pane is dead/, 15_000).catch(() => undefined);
    await this.#keep('left', this.#pane);
  }

  /** A new start in the same folder. */
  async comeBack(): Promise<void> {
    this.#pane.type('/resume');
    await sleep(1_000);
    this.#pane.press('Enter');
    await this.#pane.settle(1_500);
    await this.#keep('resume', this.#pane);
    this.#pane.type('trims');
    await this.#pane.settle(1_500);
    await this.#keep('resume searched', this.#pane);
  }

  async #becomeIdle(): Promise<void> {
    for (const key of ['Escape', 'Escape', 'C-u', 'C-c']) {
      await this.#pane.settle(400);
      if (this.#hand.isIdle(this.#pane.text())) return;
      this.#pane.press(key);
    }
    await this.#pane.settle(400);
    if (!this.#hand.isIdle(this.#pane.text())) await this.#keep('not idle', this.#pane);
  }

  async #type(text: string): Promise<void> {
    this.#pane.type(text);
    await this.#pane.waitFor((screen) => screen.replaceAll(/\s+/g, ' ').includes(text));
    // Codex treats an Enter that follows at once as a part of a paste.
    await sleep(400);
  }

  async #send(text: string, replies: readonly MessageReply[]): Promise<void> {
    this.#script.replies = [...replies];
    await this.#type(text);
    this.#pane.press('Enter');
  }

  /** Keeps the screen when the pattern is on it, and says yes where there is a question. */
  async #answerQuestion(step: string, pattern: RegExp): Promise<void> {
    await this.#pane.waitFor(pattern);
    await this.#pane.settle(500);
    await this.#keep(step, this.#pane);
    if (step === 'question') {
      this.#pane.press('Enter');
      await sleep(1_500);
      await this.#keep('enter alone', this.#pane);
    }
    if (this.#hand.question.test(this.#pane.text())) this.#pane.press(...this.#hand.yes);
  }
}
