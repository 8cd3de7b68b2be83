/** Something that the person has to change before mca can do what was asked: `main` prints the sentence and exits with `status`. */
export class UsageError extends Error {
	readonly status: number;
	constructor(message: string, status = 2) {
		super(message);
		this.name = 'UsageError';
		this.status = status;
	}
}
