// A copy of the sample project in a temporary folder, so that an example may change it.
import {cp, mkdtemp} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';

export async function copySample() {
  const folder = await mkdtemp(path.join(tmpdir(), 'mini-cc-example-'));
  await cp(new URL('sample', import.meta.url), folder, {recursive: true});
  return folder;
}
