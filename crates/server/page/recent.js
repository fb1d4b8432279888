// The last questions that were asked in this browser. They stay in it.

const KEY = "tamis.recent", MOST = 20;

export function recentQuestions() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]").filter((one) => typeof one === "string");
  } catch {
    return [];
  }
}

export function remember(question) {
  const all = [question, ...recentQuestions().filter((one) => one !== question)].slice(0, MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // A browser that stores nothing has no recent questions.
  }
}

export const forgetQuestions = () => localStorage.removeItem(KEY);
