// What runs do, while they do it.
// Run: node examples/05-events.mjs
import {SubagentManager} from 'mini-cc';
import {copySample} from './sample.mjs';

const manager = new SubagentManager({cwd: await copySample()});

const unsubscribe = manager.subscribe((event) => {
  if (event.type === 'run_start') console.log(`${event.agent} starts: ${event.description}`);
  if (event.type === 'tool_start') console.log(`  ${event.tool} ${event.title}`);
  if (event.type === 'run_end') console.log(`${event.outcome} after ${event.tools} tool call`);
});

await manager.spawn({agent_type: 'explore', prompt: 'Read src/greet.js'});

unsubscribe();
await manager.close();
