g// Copyright nobody.

// Package queue hands out jobs in order.
//
// It is safe for use by several goroutines.
package queue

import (
	"errors"
	"sync"
)

// ErrEmpty says that there is no job.
var ErrEmpty = errors.New("queue: empty")

const (
	// Small queues grow fast.
	Small = 8
	Large = 1024
)

// Job is one piece of work.
type Job struct {
	ID   int
	Name string
}

type (
	// Handler runs jobs.
	Handler func(Job) error

	// Store keeps jobs.
	Store interface {
		Save(Job) error
		Load(id int) (Job, error)
	}
)

// Queue holds jobs.
type Queue[T any] struct {
	mu   sync.Mutex
	jobs []T
}

// New makes an empty queue.
func New[T any]() *Queue[T] {
	return &Queue[T]{jobs: make([]T, 0, Small)}
}

// Push adds a job at the end.
func (q *Queue[T]) Push(job T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, job)
}

func (j Job) String() string { return j.Name }

func init() {
	register("queue")
}
