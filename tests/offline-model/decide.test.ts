import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Anthropic} from '@anthropic-ai/sdk';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {OFFLINE_CANNOT} from '../../src/offline-model/report.ts';
import {ask, converse} from './converse.ts';
import {project} from './project.ts';
import {closeIndexes, EXPLORE_TOOLS, folder, git, MAIN_TOOLS, PART_TOOLS, runTool, specs} from './simple-tools.ts';

afterAll(closeIndexes);

/** `npm run soak` takes 20,000 files and 2,000 prompts. */
const FILES = Number(process.env.MINI_CC_FILES ?? 3_000);
const PROMPTS = Number(process.env.MINI_CC_PROMPTS ?? 60);

describe('what the offline model cannot do', () => {
  it.each(['tell me a joke', 'implement a login page', 'fix the bug', 'what is the capital of France?'])(
    'says so first: %s',
    async (prompt) => {
      const {text} = await converse(prompt, {root: project(), tools: MAIN_TOOLS});
      expect(text.startsWith(OFFLINE_CANNOT)).toBe(true);
      expect(text).toContain('ANTHROPIC_API_KEY');
    },
  );

  it('says what it is and how to set up a real model when greeted', async () => {
    const {text, replies} = await converse('hello', {root: folder({}), tools: MAIN_TOOLS});
    expect(text).toContain('rule-based');
    expect(text).toContain('mini-cc --model ollama/');
    expect(replies).toEqual([]);
  });

  it('says which kind of tool is missing', async () => {
    const {text} = await converse('where is track?', {root: project(), tools: PART_TOOLS});
    expect(text).toContain('no tool here that looks up names');
  });
});

describe('a call that is not permitted', () => {
  const refusals = [
    'Permission denied: bash runs a command, and nobody can be asked here. It was not run.',
    'The user refused this call. It was not run.',
  ];

  it.each(refusals)('ends the work with a plain sentence: %s', async (words) => {
    const intercept = () => ({text: words, isError: true});
    for (const prompt of [
      'run `make`',
      'where is track?',
      'help me understand this project',
      'create a.txt with "x"',
      'rename a to b',
      'review src',
    ]) {
      const {text, replies} = await converse(prompt, {root: project(), tools: MAIN_TOOLS, intercept});
      expect(text).toContain('not permitted');
      expect(replies.length).toBe(1);
    }
  });

  it('is not a command that the operating system denied something to', async () => {
    const intercept = (name: string) =>
      name === 'bash' ? {text: 'cat: x: Permission denied\nexit code 1', isError: true} : undefined;
    const {text} = await converse('run `cat x`', {root: folder({}), tools: MAIN_TOOLS, intercept});
    expect(text).toContain('failed with exit code 1');
  });
});

describe('a turn without tools', () => {
  it('reports what was found so far', async () => {
    const root = project();
    const tools = specs(EXPLORE_TOOLS);
    const messages: Anthropic.MessageParam[] = [{role: 'user', content: 'Explore this codebase'}];
    const first = await ask({tools, messages});
    const calls = first.content.filter((block) => block.type === 'tool_use');
    messages.push({role: 'assistant', content: [...first.content]});
    const results = await Promise.all(
      calls.map(async (call) => ({
        type: 'tool_result' as const,
        tool_use_id: call.id,
        content: (await runTool(root, call.name, call.input as Record<string, unknown>)).text,
      })),
    );
    const words = 'You have reached the limit of this run. Do not call tools: report now what you found.';
    messages.push({role: 'user', content: [...results, {type: 'text', text: words}]});
    const last = await ask({tools, messages, mayCallTools: false});
    expect(last.stopReason).toBe('end_turn');
    expect(last.content).toMatchObject([{type: 'text', text: expect.stringContaining('TypeScript 5 files')}]);
    expect(last.content).toMatchObject([{text: expect.stringContaining('before the work was done')}]);
  });

  it('answers even when no call was made yet', async () => {
    for (const prompt of ['where is x?', 'review src', 'rename a to b', 'plan y', 'list files', 'read a.ts']) {
      const reply = await ask({
        tools: specs(MAIN_TOOLS),
        mayCallTools: false,
        messages: [{role: 'user', content: prompt}],
      });
      expect(reply.content).toMatchObject([{type: 'text'}]);
      expect(reply.content[0]?.type === 'text' && reply.content[0].text).not.toMatch(/is not found|is empty|No files/);
    }
  });
});

describe('messages of the runtime', () => {
  it('are summarised when they announce a run, and are not requests', async () => {
    const tag =
      '<task_announcement run="r1">\nStatus: success\nResult: Found it at src/a.ts:3\nNotes: - (none)\nStats: runtime 2s\n</task_announcement>';
    const {text, replies} = await converse(tag, {root: folder({}), tools: MAIN_TOOLS});
    expect(text).toContain('A background agent is done. It found: Found it at src/a.ts:3');
    expect(replies).toEqual([]);
    const both = await converse(`${tag}\nrun \`echo yes\``, {root: folder({}), tools: MAIN_TOOLS});
    expect(both.text).toContain('yes');
  });

  it('are left out of the result of a subagent, and an error is reported', async () => {
    const intercept = () => ({
      text: 'Repaired: agent_type from "Explore"\nhalf of it\n\n<task_receipt>\nReceipt: 1 tools\nRun: r\n</task_receipt>',
      isError: true,
    });
    const {text} = await converse('Task(explore): look around', {root: folder({}), tools: MAIN_TOOLS, intercept});
    expect(text).toContain('did not finish');
    expect(text).toContain('half of it');
    expect(text).not.toMatch(/Receipt|Repaired/);
  });
});

describe('any folder', () => {
  it('is reported as empty when it is, with git and without', async () => {
    const bare = folder({});
    const tracked = folder({});
    git(tracked, 'init', '-q');
    for (const root of [bare, tracked]) {
      expect((await converse('Explore this codebase', {root, tools: EXPLORE_TOOLS})).text).toContain('is empty');
      expect((await converse('help me understand this project', {root, tools: MAIN_TOOLS})).text).toContain('is empty');
    }
  });

  describe(`of ${FILES} files`, () => {
    let root: string;
    beforeAll(() => {
      root = folder({
        'package.json': '{"name": "huge", "scripts": {"test": "node --test"}}',
        'src/main.ts': '/** Starts. */\nexport function start() {}\n',
      });
      for (let index = 0; index < FILES / 100; index++) {
        mkdirSync(join(root, `packages/p${index}`), {recursive: true});
        for (let file = 0; file < 100; file++)
          writeFileSync(join(root, `packages/p${index}/f${file}.ts`), `export const v${file} = start();\n`);
      }
      git(root, 'init', '-q');
    });

    it('is explored in a few calls, with correct counts', async () => {
      const {text, replies} = await converse('Explore this codebase', {root, tools: EXPLORE_TOOLS});
      expect(text).toContain(`TypeScript ${(FILES + 1).toLocaleString('en')} files`);
      expect(text).toContain('src/main.ts:2 — “Starts.”');
      expect(replies.flat().length).toBeLessThanOrEqual(16);
    });

    it('is searched in a few calls', async () => {
      const {text, replies} = await converse('where is start defined?', {root, tools: MAIN_TOOLS});
      expect(text).toContain('src/main.ts:2 — function');
      expect(text).toContain(`Used ${FILES.toLocaleString('en')} times in `);
      expect(replies.flat().length).toBeLessThanOrEqual(3);
    });
  });
});

describe('any prompt', () => {
  /** A fixed sequence, so that a failure can be repeated. */
  function* numbers(seed: number): Generator<number> {
    for (let state = seed; ; ) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      yield state;
    }
  }

  it(
    'ends within 20 replies, and never makes the same call twice',
    async () => {
      const root = project();
      const words =
        'where is the rename track to in replace with src/core/track.ts all files list create run review plan explore what does retry `track` "x" a.txt and then how why explain project ? : , every функция 文件 fix add read 1. 2. \n Task(explore): delete *.ts it TODO tests under changes who calls use agent'.split(
          ' ',
        );
      const random = numbers(7);
      const pick = (below: number) => random.next().value! % below;
      for (let round = 0; round < PROMPTS; round++) {
        const prompt = Array.from({length: 1 + pick(12)}, () => words[pick(97) % words.length]).join(' ');
        const tools = [MAIN_TOOLS, EXPLORE_TOOLS, PART_TOOLS][round % 3]!;
        const intercept = (name: string) =>
          ['bash', 'write_file', 'edit_file', 'Task'].includes(name)
            ? {text: round % 2 === 0 ? 'ok' : 'failed: broken', isError: round % 2 === 1}
            : undefined;
        const {text, replies} = await converse(prompt, {root, tools, intercept});
        expect(text.trim(), prompt).not.toBe('');
        expect(replies.length, prompt).toBeLessThanOrEqual(15);
        const made = replies.flat().map((call) => JSON.stringify(call));
        expect(new Set(made).size, prompt).toBe(made.length);
      }
    },
    30_000 + PROMPTS * 500,
  );
});
