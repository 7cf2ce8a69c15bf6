// One task for one subagent.
// Run: node examples/01-spawn.mjs
import {SubagentManager} from 'mini-cc';
import {copySample} from './sample.mjs';

const manager = new SubagentManager({cwd: await copySample()});

const found = await manager.spawn({agent_type: 'explore', prompt: 'Where is greet defined?'});

console.log('success:', found.success);
console.log('tools:', found.metadata.toolsUsed.join(', '));
console.log('summary:', found.summary);

await manager.close();
