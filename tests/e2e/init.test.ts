/** /init and /memory in print mode. */
import {existsSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {startDriven} from '../drivers/driven.ts';
import {type MessagesBody, say} from '../support/messages-server.ts';
import {getSystem} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {home, isSubagent, project, serve} from './fixture.ts';

describe('/init', () => {
  it('is a turn of the model, which writes the file', async () => {
    const {path: cwd} = await project();
    const server = await serve([callTool('write_file', {path: 'AGENTS.md', content: '# Rules\n'}), say('Written.')]);
    const run = await runCli(['-p', '/init say how to test', '--permission-mode', 'acceptEdits'], {server, cwd});
    expect(run).toMatchObject({code: 0, stdout: 'Written.\n'});
    expect(readFileSync(path.join(cwd, 'AGENTS.md'), 'utf8')).toBe('# Rules\n');
    const asked = JSON.stringify(server.requests[0]?.body.messages);
    expect(asked).toContain('Make an `AGENTS.md`');
    expect(asked).toContain('say how to test');
  });

  it('without a model writes what the manifests say, and says so', async () => {
    const {path: cwd} = await project();
    const manifest = {name: 'greeter', description: 'greets', scripts: {test: 'vitest', lint: 'biome', build: 'tsc'}};
    writeFileSync(path.join(cwd, 'package.json'), JSON.stringify(manifest, null, 2));
    const run = await runCli(['-p', '/init', '--offline'], {cwd});
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('Wrote AGENTS.md from package.json. The offline model has not read the code');
    const text = readFileSync(path.join(cwd, 'AGENTS.md'), 'utf8');
    expect(text).toContain('- greeter: greets (package.json)');
    expect(text).toMatch(/- Test: `npm (?:run )?test` \(package\.json\)/);
    expect(text).toContain('- `src/`');
    expect(text).toContain('lint');
  });

  it('does not overwrite a file where nobody can be asked, nor write through a link out of the project', async () => {
    const {path: cwd} = await project();
    writeFileSync(path.join(cwd, 'AGENTS.md'), 'mine');
    const kept = await runCli(['-p', '/init', '--offline'], {cwd});
    expect(kept.code).toBe(1);
    expect(kept.stderr).toContain('AGENTS.md stays as it is. Here nobody can be asked');
    expect(readFileSync(path.join(cwd, 'AGENTS.md'), 'utf8')).toBe('mine');
    const other = await project();
    const made = await home();
    symlinkSync(path.join(made.path, 'out.md'), path.join(other.path, 'AGENTS.md'));
    const refused = await runCli(['-p', '/init', '--offline'], {cwd: other.path, home: made});
    expect(refused.code).toBe(1);
    expect(existsSync(path.join(made.path, 'out.md'))).toBe(false);
  });
});

describe('/memory', () => {
  it('lists the files that the model reads, with what they name', async () => {
    const {path: cwd} = await project();
    writeFileSync(path.join(cwd, 'AGENTS.md'), 'Use tabs. @style.md');
    writeFileSync(path.join(cwd, 'style.md'), 'Short lines.');
    const server = await serve([say('ok')]);
    const list = await runCli(['-p', '/memory', '--output-format', 'json'], {cwd, server});
    const text: string = JSON.parse(list.stdout).result;
    expect(text).toContain('AGENTS.md  (about 5 tokens)');
    expect(text).toContain('style.md  (about 3 tokens, by @ of AGENTS.md)');
    await runCli(['-p', 'hi'], {cwd, server});
    expect(JSON.stringify(server.requests[0]?.body.system)).toContain('Short lines.');
  });
});

describe('memory files that change while a session lasts', () => {
  const isAbout = (text: string) => (body: MessagesBody) => getSystem(body).includes(text);

  it('are known to the next conversation and to the next subagent, and leave the one at work as it is', async () => {
    const {path: cwd} = await project();
    writeFileSync(path.join(cwd, 'AGENTS.md'), 'Use tabs.');
    const server = await serve((body) => (isSubagent(body) ? say('Looked at it.') : say('ok')));
    const driven = await startDriven([], {server, cwd});
    await driven.prompt('one');
    writeFileSync(path.join(cwd, 'AGENTS.md'), 'Use spaces.');
    writeFileSync(path.join(cwd, 'TOOLS.md'), 'Use pnpm.');
    await driven.prompt('two');
    await driven.prompt('Task(explore): look around');
    await driven.prompt('/clear');
    await driven.prompt('three');
    await driven.end();
    const asked = server.requests.map(({body}) => body);
    const ofMain = asked.filter((body) => !isSubagent(body));
    expect(ofMain.map(isAbout('Use tabs.'))).toEqual([true, true, false]);
    expect(getSystem(ofMain[1]!)).toBe(getSystem(ofMain[0]!));
    expect(ofMain.map(isAbout('Use spaces.'))).toEqual([false, false, true]);
    const ofSubagent = asked.filter(isSubagent);
    expect(ofSubagent.map(isAbout('Use spaces.'))).toEqual([true]);
    expect(ofSubagent.map(isAbout('Use pnpm.'))).toEqual([true]);
  });
});
