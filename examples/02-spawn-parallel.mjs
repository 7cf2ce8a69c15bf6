// Several tasks at once. Results are in the order of the tasks, and a task that fails does not affect the others.
// Run: node examples/02-spawn-parallel.mjs
import {SubagentManager} from 'mini-cc';
import {copySample} from './sample.mjs';

const manager = new SubagentManager({cwd: await copySample(), maxConcurrent: 2});

const results = await manager.spawnParallel([
  {instruction: 'Where is greet defined?', tools: ['grep', 'read_file']},
  {instruction: 'List the files in src', tools: ['glob']},
  {instruction: 'Review src', agent_type: 'exploer'},
]);

for (const [index, {success, summary, error}] of results.entries()) {
  console.log(`${index + 1}.`, success ? summary : error);
}

await manager.close();
