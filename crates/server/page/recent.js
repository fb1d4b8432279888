// The last questions that were asked in this browser. They stay in it.

const KEY = "tamis.recent", MOST = 20;

export function recentQuestions() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]").filter((one) => typeof one === "string");
  } catch {
    return [];
  }
}

/** Remembers a question, in place of its own beginnings: one that is typed with pauses was asked several times. */
export function remember(question) {
  const all = [question, ...recentQuestions().filter((one) => !question.startsWith(one))].slice(0, MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // A browser that stores nothing has no recent questions.
  }
}

export const forgetQuestions = () => localStorage.removeItem(KEY);
