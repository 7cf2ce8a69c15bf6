/** Which files are tests, by their paths. It imports nothing, since programs that start use it. */

/** By its name or its folders. */
export function isTestPath(path: string): boolean {
  return (
    /(?:^|\/)(?:tests?|specs?|__tests__|testdata)\//i.test(path) ||
    /(?:[._-](?:test|tests|spec)\.[A-Za-z]+$|(?:^|\/)test_[^/]*\.py$|(?:^|\/)conftest\.py$|_test\.(?:go|py|rb)$|(?:^|\/)(?!latest|contest)\w*tests?\.(?:c|cc|cpp|cxx)$|(?:Test|Tests|IT)\.(?:java|cs|php)$)/.test(
      path,
    )
  );
}
