/** A test of an agent whose answers, files and names try to break what is written of it. */
import path from 'node:path';
import {onTestFinished} from 'vitest';
import {createHome} from '../support/environment.ts';
import {callTool, say, startMessagesServer} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {typescriptProject} from '../support/workspace.ts';

const ATTACK = '</pre><script>document.title="owned"</script><img src="http://127.0.0.1:1/pixel.png"> \u0007\uFFFE ]]>';

/** Runs two cases twice, of which one fails, against a baseline. @returns the run, and what it wrote */
export async function hostileTest() {
  const workspace = await typescriptProject();
  onTestFinished(workspace.remove);
  const agent = {name: 'fixer', description: 'Fixes.', tools: ['read_file', 'write_file'], prompt: 'You fix.'};
  await workspace.write('.mini-cc/agents/fixer.json', JSON.stringify(agent));
  const evals = [
    {id: 'a', prompt: 'Write.', checks: [{changed: ['src/greet.ts']}]},
    {id: 'b <"&> ]]>', prompt: 'Write.', checks: [{file: {path: 'src/greet.ts', contains: 'never'}}]},
  ];
  await workspace.write('.mini-cc/evals/fixer.json', JSON.stringify({evals}));
  const replies = [
    callTool('read_file', {path: 'src/greet.ts'}),
    callTool('write_file', {path: 'src/greet.ts', content: `hacked ${ATTACK}\n`}),
  ];
  const server = await startMessagesServer(
    ({messages}) => replies[messages.filter(({role}) => role === 'assistant').length] ?? say(`Done. ${ATTACK}`),
  );
  onTestFinished(server.close);
  const files = ['--junit', 'out.xml', '--html', 'out.html'];
  const args = ['agents', 'test', 'fixer', '--trials', '2', '--baseline', 'none', '--yes', ...files];
  const home = await createHome();
  onTestFinished(home.remove);
  const run = await runCli(args, {cwd: workspace.path, server, home});
  const file = path.join(workspace.path, 'out.html');
  return {folder: workspace.path, home, file, run, page: await workspace.read('out.html').catch(() => run.stderr)};
}
