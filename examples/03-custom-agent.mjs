// An agent of the project: sample/.mini-cc/agents/critic.json defines it.
// Run: node examples/03-custom-agent.mjs
import {SubagentManager} from 'mini-cc';
import {copySample} from './sample.mjs';

const manager = new SubagentManager({cwd: await copySample()});

const review = await manager.spawn({agent_type: 'critic', prompt: 'Review src/main.js'});

console.log(review.summary);

await manager.close();
