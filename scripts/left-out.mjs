// Leaves parts of packages that mini-cc never uses out of the bundle.

/**
 * Files that are left out, by package. Their exports still exist, but calling one throws. Their error classes stay,
 * because a server's answer may need them.
 */
export const LEFT_OUT = {
  // The devtools need packages that are not installed.
  ink: [/^build\/devtools\.js$/],
  // Workers use Redis only, through ioredis, and process jobs themselves. No job is repeated, late, urgent or has children,
  // and there is no relay and no clearing of a whole queue. Each script is Lua with all that it shares with others.
  bullmq: [
    /^dist\/esm\/postgres\//,
    /^dist\/esm\/classes\/(?:(?:bun|node)-redis-client|valkey-glide-client|.*relay)/,
    /^dist\/esm\/classes\/(?:job-scheduler|sandbox|child|child-pool)\.js$/,
    /^dist\/esm\/scripts\/relay/,
    /^dist\/esm\/scripts\/\w+JobScheduler-/,
    /^dist\/esm\/scripts\/(?:addParentJob|addDelayedJob|addPrioritizedJob)-/,
    /^dist\/esm\/scripts\/(?:moveToWaitingChildren|removeUnprocessedChildren|removeChildDependency)-/,
    /^dist\/esm\/scripts\/(?:cleanJobsInSet|drain|obliterate|reprocessJob|changeDelay|changePriority)-/,
  ],
  // mini-cc asks a model's server only for messages and for its models.
  '@anthropic-ai/sdk': [
    /^resources\/(?:beta|organization|skills|user-profiles)\//,
    /^resources\/(?:files|messages\/batches)\.mjs$/,
    /^lib\/MessageStream\.mjs$/,
  ],
  openai: [/^resources\/(?!chat\b|models\b|index\b|shared\b)/, /^lib\/ChatCompletion/],
  // Pages are searched by the names of elements, not by CSS selectors.
  'css-select': [/^lib\//],
  // mini-cc gives the client its own validator.
  '@modelcontextprotocol/client': [/^dist\/ajvProvider/],
  // This package serves a Node without streams.
  'web-streams-polyfill': [/^dist\//],
};

const STUB = '\0left-out';
/**
 * Code of a stub. Calling it throws. `new` and property access return another stub, because clients create objects that
 * nobody uses.
 */
const STUB_CODE = `
export function leftOut(name) {
  return new Proxy(function () {}, {
    get: (target, key) =>
      typeof key === 'symbol' || key === 'then' || Object.hasOwn(target, key) ? target[key] : leftOut(name + '.' + key),
    construct: () => leftOut(name),
    apply() {
      throw new Error('mini-cc is built without ' + name);
    },
  });
}`;

/**
 * Creates a plugin of rolldown. The build fails when a pattern matches no file, because the package has changed and the
 * pattern must follow.
 * @param {Readonly<Record<string, readonly RegExp[]>>} leftOut
 * @param {{isWhole?: boolean}} [options] `isWhole`: false when only a part of the program is bundled, where patterns
 *   need not match
 */
export function withoutUnused(leftOut, {isWhole = true} = {}) {
  const unmet = new Set(Object.values(leftOut).flat());
  const packages = Object.keys(leftOut).join('|');
  const place = new RegExp(`node_modules/(${packages})/((?:(?!node_modules/).)*)$`);
  return {
    name: 'without-unused',
    resolveId: {filter: {id: /^\0left-out$/}, handler: (id) => id},
    load: {filter: {id: /^\0left-out$/}, handler: () => STUB_CODE},
    transform: {
      filter: {id: new RegExp(`node_modules[/\\\\](?:${packages.replaceAll('/', '[/\\\\]')})[/\\\\]`)},
      handler(code, id) {
        const [, name, file] = place.exec(id.replaceAll('\\', '/')) ?? [];
        const pattern = leftOut[name]?.find((each) => each.test(file));
        if (!pattern) return null;
        unmet.delete(pattern);
        return {code: formatStub(this.parse(code), code, `${name}/${file}`), map: null, moduleSideEffects: false};
      },
    },
    buildEnd(error) {
      if (isWhole && !error && unmet.size > 0) {
        throw new Error(`the packages have no file ${[...unmet].join(' or ')} any more: look at scripts/left-out.mjs`);
      }
    },
  };
}

/** @returns a module with the same exports */
function formatStub({body}, code, file) {
  const text = ({start, end}) => code.slice(start, end);
  const [kept, names] = [[], new Set()];
  for (const node of body) {
    if (node.type === 'ExportAllDeclaration') kept.push(text(node));
    else if (node.type === 'ExportDefaultDeclaration') names.add('default');
    // Tables are not called, and code that goes through a module's exports must not find a stub among them.
    else if (node.declaration?.declarations?.every(({init}) => init?.type === 'ObjectExpression')) continue;
    else if (node.type === 'ExportNamedDeclaration') {
      const own = getNames(node);
      const errors = own.filter((name) => name.endsWith('Error'));
      if (errors.length > 0 && node.declaration) kept.push(text(node));
      else {
        if (errors.length > 0 && node.source) kept.push(`export {${errors.join(', ')}} from ${text(node.source)};`);
        for (const name of own) if (!(node.source && errors.includes(name))) names.add(name);
      }
    }
  }
  // The rest handles CommonJS exports.
  for (const [, first, second] of code.matchAll(/\bexports\.(\w+) ?=|\bdefineProperty\(exports, ?"(\w+)"/g)) {
    const name = first ?? second;
    if (name !== '__esModule') names.add(name);
  }
  const needed = body.filter(
    (node) =>
      node.type === 'ImportDeclaration' &&
      node.specifiers.some(({local}) => kept.some((each) => new RegExp(`\\b${local.name}\\b`).test(each))),
  );
  const stubs = [...names].map((name, index) => {
    const value = `/* @__PURE__ */ leftOut(${JSON.stringify(`${file} ${name}`)})`;
    return `const left${index} = ${value};\nexport {left${index} as ${name}};`;
  });
  return [`import {leftOut} from ${JSON.stringify(STUB)};`, ...needed.map(text), ...kept, ...stubs].join('\n');
}

function getNames({declaration, specifiers}) {
  if (!declaration) return specifiers.map(({exported}) => exported.name ?? exported.value);
  return (declaration.declarations ?? [declaration]).map(({id}) => id.name);
}
