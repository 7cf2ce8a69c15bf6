/** With a screen reader the bytes of a turn read well from top to bottom: lines of words, and none is written again. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {callTool, say} from '../support/messages-server.ts';
import {takesKeys} from '../support/questions.ts';
import {startCli} from '../support/run-cli.ts';
import {home as emptyHome, project, serve} from './fixture.ts';

const SUBAGENT = 'Count the files.';

test('a whole turn with a question and a subagent, for a person whose settings say screenReader', async () => {
  const server = await serve(({messages}) => {
    const text = JSON.stringify(messages);
    if (!text.includes('Look around')) return say('There are two.');
    if (!text.includes('"c2"'))
      return text.includes('"c1"')
        ? callTool('Task', {description: 'count', prompt: SUBAGENT, agent_type: 'explore'}, 'c2')
        : callTool('bash', {command: 'touch made', description: 'Make a file'}, 'c1');
    return say('| file | size |\n|---|---|\n| a.ts | 12 |\n\nThat is **all**.');
  });
  const home = await emptyHome();
  writeFileSync(path.join(home.path, '.mini-cc', 'settings.json'), '{"screenReader": true}');
  const terminal = await startCli([], {cwd: (await project()).path, home, server, cols: 200});
  onTestFinished(terminal.close);
  await terminal.waitFor(/Mode: default\. Shift\+Tab changes it\.\nYou: /);
  terminal.type('Look around');
  await terminal.waitFor('You: Look around');
  terminal.press('enter');
  await takesKeys(terminal, '4 no, and say why');
  terminal.type('1');
  await terminal.waitFor(/Took .*\n.*subagent .*\nYou: /);
  const turn = terminal.text().slice(terminal.text().indexOf('You: Look'));
  // What ends at once may have no line of its own before its end.
  const lines = turn.split('\n').filter((line) => !/^(?:Ctrl\+B sends|Working: )/.test(line));
  const counts = / (?:· (?:[\d.]+s|UNVERIFIED|no output|tokens|est|\S+ tokens)|\().*/;
  expect(lines.map((line) => line.replace(counts, '').replace(/\d+(?:\.\d+)?s$/, 'N')).join('\n')).toBe(`\
You: Look around
Working. Esc interrupts.
Call: Bash(touch made) · Make a file
Run this command?
touch made
Make a file
/sandbox auto runs commands confined to the workspace without asking
1 yes
2 yes, this command for this session
3 yes, always in this project: bash(touch made)
4 no, and say why
Press 1, 2, 3 or 4, or use the arrows and Enter. e changes the command. Ctrl+E explains it. Esc means no.
Run this command? touch made · yes
Done: Bash(touch made) · Make a file
  [explore] count - done
file: a.ts. size: 12.
That is all.
Took N
1 subagent
You: `);
  expect(terminal.raw()).not.toMatch(/\x1b\[\d*[AFJ]|\x1b\[2K|\x1b[78M]/);
});
