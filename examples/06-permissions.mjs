// What agents may do. A program cannot be asked, so what is not allowed is refused, and the result says so.
// Run: node examples/06-permissions.mjs
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {SubagentManager} from 'mini-cc';
import {copySample} from './sample.mjs';

const cwd = await copySample();
const task = {agent_type: 'code', prompt: 'Replace "Hello" with "Welcome" in src/greet.js'};

for (const permissionMode of ['default', 'acceptEdits']) {
  const manager = new SubagentManager({cwd, permissionMode});
  manager.subscribe((event) => {
    if (event.type === 'tool_end' && event.isError) console.log('refused:', event.preview);
  });
  const {changes} = await manager.spawn(task);
  const text = await readFile(path.join(cwd, 'src/greet.js'), 'utf8');
  console.log(`${permissionMode}: changed files: ${changes.length}, the greeting: ${/`(.*)`/.exec(text)[1]}`);
  await manager.close();
}
