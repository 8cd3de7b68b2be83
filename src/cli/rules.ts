import {readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {makeFolder} from './setup.ts';

/** A command that a person allowed for good: exactly this text, in exactly this workspace (a real path). */
export type Rule = {workspace: string; command: string};

/** The kept rules of a workspace. They live in the user's own config, never in the workspace. */
export function keptRules(config: string, workspace: string): string[] {
	return readRules(config).flatMap((rule) => (rule.workspace === workspace ? [rule.command] : []));
}

export function keepRule(config: string, rule: Rule): void {
	const others = readRules(config).filter((each) => !isSame(each, rule));
	writeRules(config, [...others, rule]);
}

export function removeRule(config: string, rule: Rule): void {
	const all = readRules(config);
	const others = all.filter((each) => !isSame(each, rule));
	if (others.length < all.length) writeRules(config, others);
}

function isSame(a: Rule, b: Rule): boolean {
	return a.workspace === b.workspace && a.command === b.command;
}

function readRules(config: string): Rule[] {
	try {
		const list: unknown = JSON.parse(readFileSync(join(config, 'rules.json'), 'utf8'));
		if (!Array.isArray(list)) return [];
		return list.filter((each) => typeof each?.workspace === 'string' && typeof each?.command === 'string');
	} catch {
		// No file, or one that cannot be read: then nothing was allowed, which is the safe reading.
		return [];
	}
}

function writeRules(config: string, rules: readonly Rule[]): void {
	makeFolder(config);
	const path = join(config, 'rules.json');
	const temporary = `${path}.${process.pid}`;
	writeFileSync(temporary, `${JSON.stringify(rules, null, '\t')}\n`, {mode: 0o600});
	renameSync(temporary, path);
}
