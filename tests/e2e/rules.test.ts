/** Rules of a project and of the user, and skills of the folder that programs share. */
import {symlinkSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {type MessagesBody, say} from '../support/messages-server.ts';
import {countReplies, getSystem} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';

const read = (file: string) => callTool('read_file', {path: file});
const lastText = ({messages}: MessagesBody) => JSON.stringify(messages.at(-1)?.content);

it('a rule without paths is memory; one with paths is told once, with the first file that matches, to each agent', async () => {
  const [workspace, own] = [await project(), await home()];
  await workspace.write('.claude/rules/all.md', 'Say hello first.');
  await workspace.write(
    '.mini-cc/rules/deep/api.md',
    '---\npaths: "src/**/*.{ts,tsx}, *.sql"\n---\nValidate all input.',
  );
  await workspace.write('src/api.ts', 'export const api = 1;\n');
  await workspace.write('docs/x.md', 'words\n');
  await workspace.write('db/a.sql', 'select 1;\n');
  symlinkSync(own.path, path.join(workspace.path, '.claude/rules/out'));
  const server = await serve((body) => {
    if (isSubagent(body)) return countReplies(body) === 0 ? read('db/a.sql') : say('looked');
    const steps = [read('docs/x.md'), read('src/api.ts'), read('src/api.ts'), callTools([explore()])];
    return steps[countReplies(body)] ?? say('done');
  });
  expect(await runCli(['-p', 'go'], {cwd: workspace.path, home: own, server})).toMatchObject({
    code: 0,
    stdout: 'done\n',
  });
  const bodies = server.requests.map(({body}) => body);
  const main = bodies.filter((body) => !isSubagent(body));
  expect(getSystem(main[0]!)).toContain('all.md\n\nSay hello first.');
  expect(getSystem(main[0]!)).not.toContain('Validate');
  expect(main.slice(1, 4).map((body) => lastText(body).includes('Validate all input.'))).toEqual([false, true, false]);
  const [first, second] = bodies.filter(isSubagent);
  expect(getSystem(first!)).toContain('Say hello first.');
  expect(lastText(second!)).toMatch(/Rule for this file, from [^ ]+api\.md\\n\\nValidate all input\./);
});

it('a rule that is a link out of the project is not read; one of the user is', async () => {
  const [workspace, own, elsewhere] = [await project(), await home(), await project()];
  await elsewhere.write('secret.md', 'the secret');
  await workspace.write('.claude/rules/own.md', 'of the project');
  symlinkSync(path.join(elsewhere.path, 'secret.md'), path.join(workspace.path, '.claude/rules/link.md'));
  const server = await serve(() => say('done'));
  await runCli(['-p', 'go'], {cwd: workspace.path, home: own, server});
  const system = getSystem(server.requests[0]!.body);
  expect(system).toContain('of the project');
  expect(system).not.toContain('the secret');
});

it('a skill of .agents/skills is one of the project, and commands there are none', async () => {
  const [workspace, own] = [await project(), await home()];
  await workspace.write('.agents/skills/greet/SKILL.md', '---\nname: greet\ndescription: greets\n---\nSay good day.');
  await workspace.write('.agents/commands/other.md', 'Do something.');
  const server = await serve(() => say('done'));
  const {stdout} = await runCli(['-p', '/skills'], {cwd: workspace.path, home: own, server});
  expect(stdout).toContain('greet');
  await runCli(['-p', '/greet'], {cwd: workspace.path, home: own, server});
  expect(JSON.stringify(server.requests[0]?.body.messages)).toContain('Say good day.');
  expect((await runCli(['-p', '/other'], {cwd: workspace.path, home: own, server})).stdout).not.toContain(
    'Do something',
  );
});
