import {expect, it} from 'vitest';
import {getSecretPaths} from '../../../src/core/secrets/secret-paths.ts';

it('keys lie in known places of the home, in the profiles of browsers, and in the folder of mini-cc', () => {
  const paths = getSecretPaths('/home/me', '/home/me/x/../.mini-cc');
  expect(paths).toEqual(
    expect.arrayContaining([
      ...['/home/me/.ssh', '/home/me/.config/gh', '/home/me/.bash_history', '/home/me/.mozilla', '/home/me/.mini-cc'],
    ]),
  );
});
