// Removes from the environment what npm adds for its scripts. Otherwise `npm start --silent` would silence each npm
// that an agent runs, and `node` would be the Node of this package.
import path from 'node:path';

/** Variables that npm sets for each script. Users do not set them by hand. */
const NPM_VARIABLE =
  /^(?:npm_(?:lifecycle_|package_|command$|execpath$|node_execpath$|config_(?:local_prefix|global_prefix|prefix|node_gyp|noproxy|init_module|npm_version|user_agent|userconfig|globalconfig|loglevel|cache|allow_scripts)$)|INIT_CWD$|COLOR$)/;

/**
 * Returns the environment without npm's variables and without its folders in PATH.
 * @param {Record<string, string | undefined>} env
 * @param {string} root folder of the package
 * @returns {Record<string, string | undefined>}
 */
export function environmentBeforeNpm(env, root) {
  if (env.npm_lifecycle_event === undefined) return {...env};
  const rest = {};
  for (const [name, value] of Object.entries(env)) if (!NPM_VARIABLE.test(name)) rest[name] = value;
  if (rest.NODE === env.npm_node_execpath) delete rest.NODE;
  if (env.PATH !== undefined) rest.PATH = pathBeforeNpm(env.PATH, root);
  return rest;
}

/**
 * Removes the folders that npm puts first: `node_modules/.bin` of the package and of each folder above it, and npm's
 * own node-gyp.
 */
function pathBeforeNpm(searchPath, root) {
  const added = new Set();
  for (let folder = root; ; folder = path.dirname(folder)) {
    added.add(path.join(folder, 'node_modules', '.bin'));
    if (folder === path.dirname(folder)) break;
  }
  return searchPath
    .split(path.delimiter)
    .filter((folder) => !added.has(folder) && !folder.endsWith('node-gyp-bin'))
    .join(path.delimiter);
}
