// Runs in the background: spawn without await, then look at them, stop one, and send another one a message.
// Run: node examples/04-background.mjs
import {SubagentManager} from 'mini-cc';
import {copySample} from './sample.mjs';

// One run at a time, so that the second one waits.
const manager = new SubagentManager({cwd: await copySample(), maxConcurrent: 1});

const first = manager.spawn({agent_type: 'explore', prompt: 'Where is greet defined?'});
const second = manager.spawn({agent_type: 'explore', prompt: 'List the files in src'});

console.log('at work or waiting:', manager.count());
const [, waiting] = manager.list();
console.log('stopped:', await manager.stop(waiting.runId));
console.log('second:', (await second).error);

const {runId} = await first;
console.log('first:', manager.get(runId).outcome);

// A run that has ended goes on with its history.
console.log('sent:', await manager.send(runId, 'List the files in src'));
await manager.waitAll();
console.log(manager.get(runId).summary);

await manager.close();
