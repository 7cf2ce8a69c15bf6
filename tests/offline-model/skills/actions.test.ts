import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import {OFFLINE_CANNOT, saysUnable} from '../../../src/offline-model/report.ts';
import {ask, converse} from '../converse.ts';
import {CODE_TOOLS, closeIndexes, folder, MAIN_TOOLS, PART_TOOLS, specs, type ToolName} from '../simple-tools.ts';

afterAll(closeIndexes);

const text = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
const at = (root: string, prompt: string, tools: readonly ToolName[] = MAIN_TOOLS) => converse(prompt, {root, tools});

describe('running', () => {
  it('runs a command and reports its exit code and output', async () => {
    const root = folder({});
    expect((await at(root, 'run `echo hi`')).text).toMatch(/`echo hi` ended with exit code 0\.\n\n```\nhi\n```/);
    expect((await at(root, 'please execute exit 3')).text).toContain('failed with exit code 3');
  });

  it('finds the test command in the manifest', async () => {
    const root = folder({Makefile: 'test:\n\techo tested\n'});
    const {replies, text: answer} = await at(root, 'run the tests');
    expect(replies.at(-1)).toMatchObject([{name: 'bash', input: {command: 'make test'}}]);
    expect(answer).toContain('tested');
  });

  it('says so when there is no bash', async () => {
    expect((await at(folder({}), 'run ls', PART_TOOLS)).text.startsWith(OFFLINE_CANNOT)).toBe(true);
  });
});

describe('creating', () => {
  it.each([
    ['create a.txt with "hello"', 'hello'],
    ["create a file a.txt containing 'x y'", 'x y'],
    ['create a.txt with:\n```\none\ntwo\n```', 'one\ntwo\n'],
    ['Создай файл a.txt с "да"', 'да'],
    ['创建 a.txt 内容为 "好"', '好'],
    ['create an empty file a.txt', ''],
    ['write a.txt: plain words', 'plain words'],
  ])('%s', async (prompt, expected) => {
    const root = folder({});
    expect((await at(root, prompt)).text).toContain('Created a.txt');
    expect(text(root, 'a.txt')).toBe(expected);
  });

  it('does not change an existing file, unless the request says overwrite', async () => {
    const root = folder({'a.txt': 'old'});
    expect((await at(root, 'create a.txt with "new"')).text.startsWith(OFFLINE_CANNOT)).toBe(true);
    expect(text(root, 'a.txt')).toBe('old');
    await at(root, 'overwrite a.txt with "new"');
    expect(text(root, 'a.txt')).toBe('new');
  });

  it.each([
    'overwrite a.txt',
    'overwrite a.txt with',
    'write a.txt again',
    'create a.txt, overwrite it',
    'read a.txt, then create a.txt',
    'read a.txt, then create a.txt with "new"',
  ])('keeps the content of an existing file, unless the request gives another: %s', async (prompt) => {
    const root = folder({'a.txt': 'old\n'});
    expect(saysUnable((await at(root, prompt)).text)).toBe(true);
    expect(text(root, 'a.txt')).toBe('old\n');
  });

  it('makes an existing file empty only when the request says so', async () => {
    const root = folder({'a.txt': 'old\n'});
    await at(root, 'overwrite a.txt with nothing');
    expect(text(root, 'a.txt')).toBe('');
  });

  it.each(['agents/x.md', 'agent-runner.ts', 'docs/agents.md'])('takes %s for a file, and no agent', async (path) => {
    const root = folder({});
    expect((await at(root, `create ${path} with "hi"`)).text).toContain(`Created ${path}`);
    expect(text(root, path)).toBe('hi');
  });

  it('writes nothing when the content is only described', async () => {
    const root = folder({});
    expect((await at(root, 'create server.ts with a web server')).text.startsWith(OFFLINE_CANNOT)).toBe(true);
    expect(existsSync(join(root, 'server.ts'))).toBe(false);
  });

  it('runs several requests in order', async () => {
    const root = folder({});
    const {text: answer} = await at(root, 'create a.txt with "x then y", then run `cat a.txt`');
    expect(answer).toMatch(/Created a\.txt[\s\S]*x then y/);
  });
});

describe('renaming and replacing', () => {
  const files = {
    'src/a.ts': 'export const foo = 1;\nexport const fooBar = foo + foo;\n',
    'src/b.ts': "import {foo} from './a.ts';\n\nfoo;\nfoo;\nconst myfoo = foo;\n",
    'docs/c.md': 'About foo and fooBar.\n',
  };

  it('renames whole words only, in all files, and counts them correctly', async () => {
    const root = folder(files);
    const {text: answer} = await at(root, 'rename foo to bar in all files');
    expect(answer).toContain('Renamed `foo` to `bar` in 7 places in 2 files');
    expect(text(root, 'src/a.ts')).toBe('export const bar = 1;\nexport const fooBar = bar + bar;\n');
    expect(text(root, 'src/b.ts')).toBe("import {bar} from './a.ts';\n\nbar;\nbar;\nconst myfoo = bar;\n");
    expect(text(root, 'docs/c.md')).toBe(files['docs/c.md']);
    expect(answer).toContain('docs/c.md:1');
  });

  it('refuses a rename that would break files that may not be changed, and names them', async () => {
    const root = folder(files);
    const {text: answer, replies} = await at(root, 'rename foo to bar in src/a.ts');
    expect(answer.startsWith(OFFLINE_CANNOT)).toBe(true);
    expect(answer).toContain('src/b.ts');
    expect(replies.flat()).not.toContainEqual(expect.objectContaining({input: expect.objectContaining({apply: true})}));
    expect(text(root, 'src/a.ts')).toBe(files['src/a.ts']);
  });

  it('refuses a name that is taken, and one that several definitions have', async () => {
    const root = folder({...files, 'src/d.ts': 'export const foo = 2;\n'});
    for (const prompt of ['rename foo to bar', 'rename fooBar to foo']) {
      expect((await at(root, prompt)).text, prompt).toContain('Nothing was changed');
    }
    expect(text(root, 'src/a.ts')).toBe(files['src/a.ts']);
  });

  it('changes only the file in the request, where it is no code', async () => {
    const root = folder(files);
    await at(root, 'переименуй fooBar в barFoo в docs/c.md');
    expect(text(root, 'docs/c.md')).toBe('About foo and barFoo.\n');
    expect(text(root, 'src/a.ts')).toContain('fooBar');
  });

  it('changes only the files of its list, with the tools of a part', async () => {
    const root = folder(files);
    const {text: answer, replies} = await at(
      root,
      'Replace foo with bar in all files.\n\nFiles: src/a.ts, docs/c.md',
      PART_TOOLS,
    );
    expect(answer).toContain('in 2 files');
    expect(text(root, 'src/b.ts')).toBe(files['src/b.ts']);
    expect(replies.map((calls) => calls.length)).toEqual([2, 2]);
  });

  it('replaces quoted text literally', async () => {
    const root = folder(files);
    const {text: answer} = await at(root, 'replace "foo" with "$& b" in docs/c.md');
    expect(text(root, 'docs/c.md')).toBe('About $& b and $& bBar.\n');
    expect(answer).toContain('docs/c.md: 2');
  });

  it('changes nothing when the text is not found', async () => {
    const root = folder(files);
    const {text: answer, replies} = await at(root, 'replace ghost with bar in src/a.ts');
    expect(answer).toContain('Nothing was changed: `ghost` is not in src/a.ts.');
    expect(replies.flat().map((call) => call.name)).toEqual(['read_file']);
    expect((await at(root, 'rename ghost to bar')).text).toContain('No definition of ghost');
  });

  it('reads a long file to its end before it edits it', async () => {
    const lines = Array.from({length: 4500}, (_, index) =>
      index % 1500 === 7 ? `let foo = ${index}; fooBar();` : `line ${index}`,
    );
    const root = folder({'long.js': `${lines.join('\n')}\n`});
    expect((await at(root, 'replace foo with bar in long.js')).text).toContain('in 3 places');
    expect(text(root, 'long.js').match(/let bar = \d+; fooBar\(\);/g)).toHaveLength(3);
  });

  it('reports what could not be edited', async () => {
    const root = folder(files);
    const {text: answer} = await converse('replace foo with bar in src/', {
      root,
      tools: CODE_TOOLS,
      intercept: (name, input) =>
        name === 'edit_file' && input.path === 'src/b.ts'
          ? {text: 'src/b.ts changed since you read it', isError: true}
          : undefined,
    });
    expect(answer).toContain('in 3 places in 1 file');
    expect(answer).toContain('src/b.ts: src/b.ts changed since you read it');
  });

  it('says why a rename was not made', async () => {
    const {text: answer} = await converse('rename foo to bar', {
      root: folder(files),
      tools: CODE_TOOLS,
      intercept: (_, input) =>
        input.apply ? {text: 'src/b.ts changed meanwhile. The rename was taken back.', isError: true} : undefined,
    });
    expect(answer).toContain('src/b.ts changed meanwhile. The rename was taken back. Nothing was changed.');
    expect(saysUnable(answer)).toBe(true);
  });
});

describe('drafting an agent', () => {
  const draft = async (description: string) => {
    const reply = await ask({
      tools: specs(MAIN_TOOLS),
      messages: [{role: 'user', content: description}],
      answerSchema: {type: 'object', properties: {name: {}, description: {}, tools: {}, prompt: {}}},
    });
    const [block] = reply.content;
    return JSON.parse(block?.type === 'text' ? block.text : '') as {
      name: string;
      tools: unknown;
      prompt: string;
      description: string;
    };
  };

  it('answers with JSON only, and without write tools for a read-only agent', async () => {
    const agent = await draft('create a code review agent with read-only access, focusing on quality');
    expect(agent).toMatchObject({name: 'reviewer', tools: ['bash', 'read_file', 'grep', 'glob']});
    expect(agent.prompt).toContain('Never modify files');
    expect(agent.description.length).toBeGreaterThan(10);
  });

  it('gives all tools to an agent that writes, and makes a name from the description', async () => {
    expect(await draft('an agent that writes unit tests')).toMatchObject({name: 'writes-unit-tests', tools: '*'});
    expect((await draft('updates Dockerfile versions weekly')).name).toMatch(/^[a-z][a-z0-9-]{0,63}$/);
  });
});
