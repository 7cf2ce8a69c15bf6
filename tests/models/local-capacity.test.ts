import {chmodSync, mkdtempSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {measureLocalCapacity} from '../../src/models/local-servers.ts';

/** A server that answers `GET /api/ps` so; undefined: never. */
async function ollama(answer: unknown, status = 200): Promise<string> {
  const server = createServer((request, response) => {
    if (answer === undefined) return;
    response.writeHead(request.url === '/api/ps' ? status : 404, {'content-type': 'application/json'});
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A PATH on which nvidia-smi is this script. */
function nvidia(script: string): Record<string, string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-nvidia-'));
  writeFileSync(path.join(folder, 'nvidia-smi'), `#!/bin/sh\n${script}\n`);
  chmodSync(path.join(folder, 'nvidia-smi'), 0o755);
  return {PATH: `${folder}:/usr/bin:/bin`};
}
const none = {PATH: '/nowhere'};
/** With a limit that a busy machine keeps. */
const measure = (options: {readonly baseURL: string; readonly env: Record<string, string>}) =>
  measureLocalCapacity({...options, limitMs: 20_000});

describe('the slots of a model server on this machine', () => {
  it('are 3 when nothing is known', async () => {
    expect(await measure({baseURL: await ollama({}, 404), env: none})).toBe(3);
    expect(await measure({baseURL: 'http://127.0.0.1:9', env: none})).toBe(3);
  });

  it('are 3 when the model lies in the memory of the GPU, 1 when only part of it does', async () => {
    const loaded = (size: number, vram: number) => ollama({models: [{name: 'qwen3', size, size_vram: vram}]});
    expect(await measure({baseURL: await loaded(5e9, 5e9), env: none})).toBe(3);
    expect(await measure({baseURL: await loaded(5e9, 3e9), env: none})).toBe(1);
    // No GPU at all: nothing can be said of its memory.
    expect(await measure({baseURL: await loaded(5e9, 0), env: none})).toBe(3);
  });

  it.each([
    ['200', 1],
    ['1500', 2],
    ['24000', 3],
    ['300\n900', 2],
  ])('with %j MiB free are %d', async (free, slots) => {
    const env = nvidia(`[ "$1" = --query-gpu=memory.free ] && printf '${free.replaceAll('\n', '\\n')}\\n'`);
    expect(await measure({baseURL: await ollama({models: []}), env})).toBe(slots);
  });

  it('are 3 when an answer makes no sense or nvidia-smi fails', async () => {
    expect(await measure({baseURL: await ollama({models: [null, 'x', {size: 'big'}]}), env: nvidia('exit 9')})).toBe(3);
    expect(await measure({baseURL: await ollama([1, 2]), env: nvidia('echo no devices')})).toBe(3);
  });

  it('are waited for no longer than a moment', async () => {
    const slots = await measureLocalCapacity({baseURL: await ollama(undefined), env: nvidia('exec sleep 600')});
    expect(slots).toBe(3);
  });
});
