import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import type {RunStore} from '../../../src/core/contract/runs.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {settle} from '../../support/wait.ts';
import {createRoot, managerFixture} from '../manager-fixture.ts';
import {ScriptedModel, say} from '../scripted-model.ts';

it('the end of a run is emitted only when its transcript is on the disk', async () => {
  const log: string[] = [];
  const [home, root] = [mkdtempSync(path.join(tmpdir(), 'mini-cc-run-end-')), createRoot()];
  const real = new SessionStore(home, root).runStore(() => 'session-1');
  const store: RunStore = {
    sessionId: real.sessionId,
    create: (header) => {
      const open = real.create(header);
      const close = async () => {
        log.push('closing');
        await settle();
        await open.close();
        log.push('on the disk');
      };
      return {...open, close};
    },
    reopen: (runId) => real.reopen(runId),
    list: () => real.list(),
    read: (runId) => real.read(runId),
    archive: (runId) => real.archive(runId),
  };
  const {bus, spawn} = managerFixture({root, options: {store}});
  bus.subscribe(({type}) => void (type === 'run_end' && log.push(type)));
  await spawn(new ScriptedModel([say('found')]));
  log.push('returned');
  expect(log).toEqual(['closing', 'on the disk', 'run_end', 'returned']);
});
