/** A large change by `mini-cc review`, and finders that a user's file replaces; the model is played by a scripted server. */
import {expect, onTestFinished, test} from 'vitest';
import {callTool, type MessagesBody, startMessagesServer} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {within} from '../support/wait.ts';
import type {Workspace} from '../support/workspace.ts';
import {changedProject, commitAll, finding, isVerifier, reviewers, testFolder, textOf} from './review-fixture.ts';

/** Code of so many lines, of which the changed ones end otherwise. */
function code(file: number, lines: number, isChanged: (line: number) => boolean): string {
  const rows = Array.from({length: lines}, (_, line) => {
    const name = `compute${file}Part${line}`;
    return `export const ${name} = (amount: number) => amount * ${line} + ${isChanged(line) ? 'amount' : file};\n`;
  });
  return rows.join('');
}

/** A repository with a change of 40 files and 3,000 lines: half of them added, half removed. */
async function largeChange(): Promise<Workspace> {
  const workspace = await testFolder();
  const files = Array.from({length: 40}, (_, index) => index);
  const nothing = () => false;
  for (const file of files) await workspace.write(`src/part${file}.ts`, code(file, 120, nothing));
  await commitAll(workspace, 'Start');
  const isChanged = (line: number) => line % 3 === 0 && line < 114;
  for (const file of files) {
    const most = file < 20 ? isChanged : (line: number) => isChanged(line) && line < 111;
    await workspace.write(`src/part${file}.ts`, code(file, 120, most));
  }
  return workspace;
}

/** Text of the first message, which has the task. */
const taskOf = ({messages}: MessagesBody) => JSON.stringify(messages[0]);
const turnOf = ({messages}: MessagesBody) => messages.filter(({role}) => role === 'assistant').length;
const filesOf = (body: MessagesBody) => [
  ...new Set([...taskOf(body).matchAll(/# (src\/part\d+\.ts) \(/g)].map(([, file]) => file!)),
];

test('40 files and 3,000 lines: groups that fit, finders side by side, a verifier a claim, and what was said before', async () => {
  const workspace = await largeChange();
  let waiting = 0;
  const four = Promise.withResolvers<void>();
  const server = await startMessagesServer(async (body) => {
    if (isVerifier(body)) return callTool('StructuredOutput', {verdict: 'confirmed', why: 'read it'});
    // The first four finders are answered when all of them have asked.
    if (turnOf(body) === 0) {
      waiting += 1;
      if (waiting === 4) four.resolve();
      await within(four.promise, 100_000, 'the fourth finder');
    }
    const files = filesOf(body);
    // Each third group is looked at more closely.
    if (files[0]!.length % 3 === 0 && turnOf(body) === 0)
      return callTool('read_file', {path: files[0]!, offset: 1, limit: 20});
    const concern = /concern: (\w+)/.exec(textOf(body))![1]!;
    const claims = files
      .filter((_, index) => index % 8 === 0)
      .map((file) => finding(`Wrong in ${concern}`, {file, line: 4}));
    return callTool('StructuredOutput', {findings: claims});
  });
  onTestFinished(server.close);
  const pool = JSON.stringify({subagents: {maxConcurrent: 4}});
  const args = ['review', '--yes', '--json', '--fail-on', 'never', '--settings', pool];
  const run = await runCli(args, {cwd: workspace.path, server, timeoutMs: 170_000});
  const said = /^40 files, 3,000 lines: about ([\d.]+)([kM]) tokens, about \$([\d.]+), at most \$([\d.]+)$/m.exec(
    run.stderr,
  );
  expect(said, run.stderr).not.toBeNull();
  const [, tokens, unit, about, most] = said!;
  const result = JSON.parse(run.stdout);
  expect(result).toMatchObject({complete: true, files: 40, lines: 3000, errors: []});

  const finders = server.requests.filter(({body}) => !isVerifier(body) && turnOf(body) === 0).map(({body}) => body);
  const verifiers = server.requests.filter(({body}) => isVerifier(body)).map(({body}) => textOf(body));
  // Each concern saw each file once.
  expect(finders.flatMap(filesOf).sort()).toEqual(
    Array.from({length: 160}, (_, index) => `src/part${index % 40}.ts`).sort(),
  );
  // 200,000 characters at most are the code of a group, besides system prompt and tools.
  for (const body of finders) expect(taskOf(body).length).toBeLessThan(220_000);
  expect(verifiers).toHaveLength(result.findings.length);
  expect(result.findings.length).toBeGreaterThanOrEqual(20);
  // A verifier is told of one claim, and not why it was made.
  const told = verifiers.map((body) => new Set(body.match(/WHY|Wrong in \w+/g)).size);
  expect(told).toEqual(verifiers.map(() => 1));

  const used = Object.values(server.usage).reduce((sum, each) => sum + each, 0);
  const expected = Number(tokens) * (unit === 'M' ? 1_000_000 : 1_000);
  expect([used / expected > 0.5, used / expected < 2], `${used} tokens, said ${expected}`).toEqual([true, true]);
  const ratio = result.usd / Number(about);
  expect([ratio > 0.5, ratio < 2], `$${result.usd}, said $${about}`).toEqual([true, true]);
  expect(result.usd).toBeLessThanOrEqual(Number(most));
});

test('a file of the same name replaces prompt, tools, model and limits of a finder, which stays read-only', async () => {
  const workspace = await changedProject();
  const own = {
    name: 'review-security',
    description: 'Ours.',
    prompt: 'OUR RULES: look for money.',
    tools: ['read_file', 'edit_file', 'bash'],
    model: 'haiku',
    readOnly: false,
    contextTokens: 30_000,
    outputSchema: {type: 'object', properties: {other: {type: 'string'}}, required: ['other']},
  };
  await workspace.write('.mini-cc/agents/review-security.json', JSON.stringify(own));
  const edits = callTool('edit_file', {path: 'src/pay.ts', old_string: 'amount * 2', new_string: 'amount'});
  const answer = reviewers([finding('Charges twice')], () => 'confirmed');
  const server = await startMessagesServer((body) => {
    const isOwn = textOf(body).includes('OUR RULES');
    return isOwn && turnOf(body) === 0 ? edits : answer(body);
  });
  onTestFinished(server.close);
  const changed = await workspace.read('src/pay.ts');
  const args = ['review', '--json', '--finders', 'security,api', 'src'];
  const run = await runCli(args, {cwd: workspace.path, server});
  expect(JSON.parse(run.stdout), run.stderr).toMatchObject({
    complete: true,
    findings: [{title: 'Charges twice', by: ['review-security', 'review-api']}],
  });
  expect(await workspace.read('src/pay.ts')).toBe(changed);
  const ours = server.requests.filter(({body}) => textOf(body).includes('OUR RULES')).map(({body}) => body);
  expect(ours.length).toBeGreaterThanOrEqual(2);
  for (const {model, tools} of ours) {
    expect(model).toContain('haiku');
    expect(tools?.map(({name}) => name)).toContain('StructuredOutput');
  }
  expect(
    server.requests.filter(({body}) => !textOf(body).includes('OUR RULES') && body.model.includes('haiku')),
  ).toEqual([]);
});
