// How the packages that ship differ from those that are published: the build and the tests load them through the same plugins.
import path from 'node:path';
import {LEFT_OUT, withoutUnused} from './left-out.mjs';

/** The packages whose code a plugin changes. */
export const PATCHED_PACKAGES = Object.keys(LEFT_OUT);

/**
 * @param {string} root
 * @param {{isWhole?: boolean}} [options] `isWhole`: false where not all of the program is loaded, as in a test file; else a file
 *   that is left out but was not met is an error
 */
export const patchPackages = (root, {isWhole = true} = {}) => [
  withFrameOutput(root),
  withoutUnused(LEFT_OUT, {isWhole}),
];

/** Ink draws its frames by our class in the place of its own, see src/ui/frame-output.ts. */
export const withFrameOutput = (root) => ({
  name: 'with-frame-output',
  transform: {
    filter: {id: /node_modules[/\\]ink[/\\]build[/\\]output\.js$/},
    handler: (code) => {
      const own = 'class Output {';
      if (!code.includes(`export default ${own}`))
        throw new Error("Ink's output.js has changed: look at withFrameOutput");
      const file = JSON.stringify(path.join(root, 'src', 'ui', 'frame-output.ts'));
      const changed = code.replace(`export default ${own}`, own).replace(/^\/\/# sourceMappingURL=.*$/m, '');
      return `import {createFrameOutput} from ${file};\n${changed}\nexport default createFrameOutput(Output);\n`;
    },
  },
});
