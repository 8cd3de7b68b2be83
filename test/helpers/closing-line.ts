import type {Reporter, TestModule} from 'vitest/node';

/** Closes a run with `N passed, N failed` alone on a line. A file that could not be loaded counts as one failure. */
export default class ClosingLine implements Reporter {
	onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]) {
		const count = {passed: 0, failed: unhandled.length, skipped: 0};
		for (const module of modules) {
			count.failed += module.errors().length;
			for (const test of module.children.allTests()) {
				const {state} = test.result();
				if (state === 'passed') count.passed++;
				else if (state === 'failed') count.failed++;
				else count.skipped++;
			}
		}
		const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
		process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
	}
}
